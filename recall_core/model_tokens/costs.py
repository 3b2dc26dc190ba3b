"""What characters cost in tokens of language models. Written by `python -m benchmarks.tokens fit`.

Symbols are the visible characters of ASCII in order, and behind them one for all accented letters.
"""

from __future__ import annotations

UNIT = 32
"""Units of a token."""

DIGITS = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz+-"
"""What weights are written with: 0 to 63 units."""

STARTS = "WdWbbYYZWWYcWWZWXWWWWWWWWWWZWWWWaefggZWXeWdfdYaeWfaZZjYbYgWcWYdXWWWWWWZWWWYWWWXWYWWYWYWbaWWWWcb"
"""What a word costs that begins with each symbol."""

ENDS = (
    "76GWRGTHIQG60WBXWXXXXXXXXGGD0XOGNKJPKKKGKKKKKQIKKKOPKKKKKKEBVMGSUVTVWXVVYXWTWYVaXagTWWSXXXGGLTX",
    "fCAC7QcG4aW4GGEXVUXUZbjZZ02IYHKFVhdXcfhacbcYYXedZbZdYWQPYh0I76LMWTXaaVUUXbgZYQTYbWOYVYXfXWOS4Vc",
    "FV3YRGIGGHUGJUpkddgihmkegPGGFBRGRQQSQQQQQQQUQVQNQSQQQQQQTQJOOGKGfUYXOWVVeXTTUYVUXYafrUWWXXGGGTX",
    "ZWOGGGN48WG6GIOTTTVYXXXXXGJJQGGWEME988S8H88OF9CH88FEEFAN78GISR3GagRSXWbYTWTXfSXTVaVSUQSTIW4EGGX",
    "MJRCJTTKJNVJZFLQQSWWQVTVVGGG3LGRTVSWVVVRiWWiTWWaWWRSVVVVTWHJLMUGgSQRTTSTTTSOQSVOSUPSRQSSSJ7GAGT",
    "QSBPG0SFSXTOGFUGGGGGGGGGGGSGBMGGXTTRWVVVUVVVdYUWVYYXVVaVVVLOGGNGUUgVUTbUWVVTVRTTWVUTVaVUVVGGGGV",
    "IEIIBU4O6PP1J5IbbTbbbbcba63CUZNGTWSReiYMTUURXOOYNRbaUVUOUOWH0UHFeVcZdVhhZeOaXbkbadZYZaZbZc0WSVT",
    "1BBE5E5172GG30JXZamaaaXdhTRYDRMFWiZWZdVeYPZdkejhhhbUNTZRhQLRGTCHYUcWaYedXeYcbXVfhiZZaabYcg57GLn",
    "LCGVSNOF34N5D3LGGGGGGGGGG31OAOXGEFEEEEHETEEEEEGEEEFBEEEEEEVDLS8BYbbbbYbbYbbbbbbbbcTabbbbdbCRGGl",
    "GcTcGGePB3M9YHCTRURRRRRRRCSGYVSGgdfceZdgWibVieXgZUdZddXZZaFLaGRNWTadSSVRgXQThefWYXdWWVVXXXUWNYX",
    "GCG9OMGC8G0KbUTRQTYQTSQLODEO0dTMnkyypqxuvl-qpclrzqhwqkp-wgKKCGKTnjrjikkZkjmYsfjvkeerfmgSjURNHGv",
    "G2L2JP9LSNGN0KLSXbZaZccVcZLGGGG6aihoridekkfllZfsinjafdohfe7DLGeGccwbfYdReQYTYaYibaUXkZlYYaQGNGZ",
    "GOG8DGF9BZH62FbTVUSVXYaNTDRZ94TMdWikUYcXgekffUaiffZdUaWhbaJPSFqOaYcebaYVYddYdYWebeaabgcVbVOTIGa",
    "G7ULcGQM57W0K2RVVVVUVWVVVAI1BRIPdhZUWcYWVRRYXeTWSlWbWTWPRUHS9G4QYXbYdbUXhXTYWUXaTeYZXVbTPVdOGRa",
    "UGPPBP9E01W0120YQLZRKKMWX7WSO4AUNPJLGNFVIHHGHKJPDSOGII0HKJ4CLXOLDLQTOLVMNKUOTHKUOTRGGfJUCI7JFKP",
    "GRTSUFS7WOeWYYdWWWWWWWWVXZUOZYUXeggaacrcq+nhUkicnkWibiigp-NTLNeUWWZWYXXejjeWeZbgYYVcgfaWfLGXdNb",
    "GSSVUFNKUQjWYXaWWVWWVVWVVZVMoUUUcZcYbafdchuqqigoolgjimgdhlNQTNYSYXXVXXSVceKlbbhbhjVhakaaaaGSSLb",
    "GPRWUFPFUTeVYXqWXWWWWWWWWZRMoTVcfahaYcotdojjjmjqrdYpicnmfoQPPMVTYVXVZZfWfhUVXVYcdaWiZYUPSgGUPMb",
    "GRTRUFL5WSlWbWnVXWVVWXWWWcTJoUUVefebfdnXemioripovjikgykgifQQMNaQVXZXXXbgkZgYhcXYgfWfeYbfZdGUPMb",
    "GOTSTFN7UQsVZWcWXWWWXXXWWbUKoWUaheccebanffegfiblfflninpbZtRNRNgUWWYWYYdjjhbTVkcjbfbYZXaKdjGUNKb",
    "GRWSUFO2VQgWZWjWWVWWWWXWVcSLmVUUaZbaefpqnolljmodgidackmlnsQSQNfTXXZWYZcgSdYXbYbiZbYcaTZbrcGUQNb",
    "GOTSUFR7UQmWZXmXXWXVWWWWXZRKoWUVebdaccgkgocdkiefejlivkgmgkNOTNWSWXYXYZXZUgZiWifefnfTRpXMfeGUNNb",
    "GRSSUFT2UQdXZXlWXXWWWXWWWbVLoWUUabeaebgfsrjmibfvjmhpmhqjejNKRNgQXYYWYXdcPTcffYWlcccdjkZcRYGUNMb",
    "GXTSUFL3XQjWZYkWXWWXWWWWWbTKlWUVgafcdipdmoekimikhfjgorkhnjNPYNRTXWYYWYbaZXdeQeagfbVYSajMWkGUMMb",
    "GPTSUFT9WQfXZWfWWXWWXWVWXdSLgVUVfbgbecjslnkldigdkounxoushsNOONfTVZYXYYsRQLWbmibZffjcheeZXVGWUMb",
    "EEG4LGNRJMGX0G5RORSRRFNUb6VNPNOLWTVVOXUQUOaYZWJVQPVPNMNUOZhEFGP8LaXVXKYSXJUYUaTYWXRYXZaRRPUGGGR",
    "GPGOJ0POKGGPMQJbfZdccdfehG0KGSGGcdrpmeeoqUiklhjritfegfkieiGSSQGGeYqkvYghgjhilffphhdWgZfhghGGMGh",
    "5bGVAMDWQGGTNWFQRPRRPRRRRGG04KGGkVYdYRaYlZUbTTekWVdZcUUXaWMLGGIGYXeYUebcdZadeXbZTXhTaYZXWYXGGGc",
    "GAG1GGH9PNcZQaVfbfddgfbdeSJf34QOdehccffaZmhzRaiYdcraaQddbdP9IHbGYdbaYZRVZYieeaXXafTefYgXVn3GI1Z",
    "G5PUcG6FHYg3hFERRRRRQRRRR4A064TGcTXWWTXTUTTTTaSMTTURTXTYOTLMPG9IgQUSTUSRSVVLZRQTSRWQVS+VXV5GjFU",
    "VBGOGRQY5SGOTAIGGGGGGGGGGMGUMG5GTTTUTTTTTTTTTTTTUTTWTTTTTTKKOGGQ9F9I9979499A989966499B9999GGIG9",
    "MDGVGGCGPSGGLQVMRMNMNKLLLRPGQGGGOOOOLOOOWMOOOOTMOOeOOOOOOOGIRLNCqQScanFLejdRYOUZXbbbWWdZVe7GSGZ",
    "NJSOIOLMQNXNMOnUMPMMKNNRLULYSPPRGD40G94HKVHD59O6a7015GN06VKAhCRMPA24MH9GLDR0A5J5JCB428R3T2TRIOa",
    "NLSOJOQNSNXShRqPPOSPORRQNSQXbPSRLDN82ERONHT6DPKUT6CNBMI50OKCUCQD4IAE7FVK0FO0MD7LI0N4CI5J7GTMMOP",
    "NGROJOLMSNRMLTtMNKOLNNINNORSZMPRNEE85A6BFS29CDABSFC3IE7PXLKAQCXD4HHQ1Ff1DFI03K0NN4H07GFEGDTVIOL",
    "QFSOJORKaKdRVQkTRSVPMPRMPQJZRPPSHAHEACKMED7N529DaTMIcoTWTUKMFBXN0AHF0KLA0OETVL8MHDBIPN9RTBTKOOP",
    "NHSQJOLRUPgRdXsQQVQLMPWOOWRObRPRJ5BPA0FJUYREUHIT3DGEXGWE8bVLWCZNAQH6N60M5dK0F0HSK0IJCCS0L8TRAOM",
    "NGSOJOMRQGfSIVaPKMPVNOQMWSOUZMPR0BBEHAQU6OKDBF4NF9IBKOYBUYJFTCcGC9PS8THG0QN5SLGNJ0II1IKGGGTMFQC",
    "NOSOJORFRMaLhOyTgSPWVQPWaEKYUKPRbFEOFPNDMRMKCAVKVHA0VNUHZTKAQCSCWUOI06MEJAMBMX8NH1NBFDLSJLYMLOU",
    "NTSOJOLOUNhSTNqXKZURTVUWdKQYnSPREUML6WLGNLYJUNcFTQH0TMDSaRJANClDCJCJ0LQL59LIRT7OHGK0IEGPOBTUNOP",
    "NIROJORITNcMNKcYOVWhYMYUVJRXmMPRHWH6FGCO9UL6B40CUF94MIG0T2QEHCLCMYH0I72KFMOC83GCSG02GMSQNPTKIOW",
    "NMSOJORIQNoNWRuScbXWSUVUMGOYbNPRMCWHEQOKcNSMWTTSHP0MKMTEPGKAQCcC8DJJEATPMNNOJN0PLG0H0GQMHETMIOd",
    "NIkOJOYMTNaMVVwWNYeRLeSQYNNYbKPRc7MLKEMMPLTLLNPLSRX9XPRILNKAWChFJKFI0RKFBOSHCIWOKGKOWIUANLTMIOK",
    "KKSRJOQLWNcRhMjQQWccPTPXWOMWEQPRJRAEBMPM6PZ4VQIGFK74HMNSDIKKNCbI2FEI4CPH3DLOLK0SXVJECVJINRTHNOO",
    "NGSOJOSHKNWIQPufWebTVLjVPUOYhIPZD9MF3fSLBZP4HLDJBEFHSU7N6POAQCUM3EBE0LH8AJRPKQ5KH9PKDHFI0HTMKOM",
    "NISOJOUKVScPVMsWVSTVaWZKeULYZJPPDHR09D9YJLKIJIDQOBFE3NX9MTQBYCTE7R9X7GOKIRMYMH2ODUNTNKHEMGZLMOO",
    "NFSOJORGONZURQcQSXTGQdcifUPYWLPRN8C2F3FCPGDCH1MFR5J86LAASPL9ZCf8M4EVT0FMPM6MK0O8E91OF0WKR9TMQOM",
    "NHSOJOPHQMSMcKnJMQUbVSeXPNRYiJPR9OBA946F8UBC8KFHP7L49GRJFCK6GCMF9APO0TKB4TJ0NJ0JP5G4KLPF0RTOJOE",
    "OISOJORIQNhDZOvTOaNcXUVcQKOYbLPRTQLUUHUZRLT0MKLTVQPRIKUNQTKAQCbCQCNPPPMEMHPFJNBLJ8E42GHGKGTMIOE",
    "NESOIOSFPNY9UJqURZZSNZaSYOOYaMPRJIP3CIPDCYN2LJ2VLH741CXU1DJEWCSE0IIK0LJE3LINSL0IRJJC4MSIFITVOOR",
    "NLHOJOQSTNXYRRcaYRRXbQUMSUrZTMPRJHLI2LE4DMFCSE7SAA91GAKONWLQKCiMMP1J0HJ9698AME08KGQ0IN4J0FTLUOW",
    "NDSOIOIaMNaMJaZQRVTXVWROUUOYQTPRJEGI4DN0GXTCFkG6JHKCSOPIIdKFVCOG6SVJ7MJ9GCUCSO7KO6SJOHEO0AWHSOO",
    "NLSOJOKGVMWOdSoONPYVWaRSQKOYfLPRSKGR0N5J8GI28IK7Q29DOSLYWPKAQCnCLAVPIDKCQW1RO9N2JAD2IIGILQTMIOE",
    "NHSOJOPIRNYOQQvNWLBbPoaYZLOXXLPRCO8H0EJa2JFD6TTFaH8MVIHLOMKAPCOC3GDQ2NOJ4JTF0LA0ODILR8NHQIQKIOI",
    "NFSOJOSEKNhMXRySVaUZRcPeQPOYeMPRQUXF8KSJFTNJG23FIEBMDMHZfHKAQCc4BLKIBQLG0IERLL7LH0JGXJVIRETMIOE",
    "NMSOJORIaMUJoOldTWTQLLUUJQNcbOPRGTIIBMNCCMjS9USGRLMGUBP0IPKCOCSEHFELXNNGECGJAPLMKHSKM9FQGNTTfOG",
    "NISOJOSIVNeZILlVaYVULTLdaMfYGOPRYRMMQDRLFQUSMXL6PGEOMGFMMDHFMCRJYFHDHB8PWVFDHKHH6MJGRPJJS9TREOB",
    "NISOJOQISNZKRNvRShTUTMOYPJOYbLPRaLLOFHPMMJHTSOgaROPDSXUONOKANCQCDHNL8BGJRPZH8KIEINIHTNIOLTTMIOR",
    "SBQ8TNBPGWU0CGQhbpjnlqnjnRGeJGGpfbWheOXVeWZhgVcbaRbedfSVWW0SAT30WWZWTegWZdWbeVUbXecYSWUXXXCGGGX",
    "GFGZOSXEFIRGDKWaRTVVVVWWWSJLSOWIccccccccgUcabccYccWcXcZcccPEHGLEPQQPPSQQTPPJPUXPPSPTRQSPPLTQNGP",
    "cUGNGGY69082XACGGGGGGGGGGE0OLGZGWWWWWWWWWWWWWVWWWWWWWWWWWWEDCGKKXXXXVXXXXXXXXaWUXWXXXXXXXXAM8GX",
    "GQSbGQTDMGGTGGRlhnlmeheenbVGQGQQQQSPQQQQQQQQPQPQQPSQQQUQQQQFNGOGBGIGGFJFGJGGGGGGGFGJGHGIGGGKGGG",
    "WLGAGGP0N6RFg8dWVXiTgachgLC6VOGGRVbSLTRcSO9RRKXUQQOQaENeGPKVRG2eTeabgYghbbZZbYZbZhaYbZhgSf0NWGg",
    "RMRF8GLH9PQ699SVVWXUUVYVU9IRGUQCSZZLRXJPYNNRQPUgXITROPUUNM7R9MJ6XRdaYVXWZJWbaUbWZkZTXYSbXZBUGVZ",
    "XVAPiKLNXYjaZZkXXXVWWWXVVaYBPWfqTiTXsKjYgssSgOaUoP7kTiqhhsTSfLUQR537GF0MAKA043K6G34088E028dcJWT",
    "WUIPlKTUXW+XUaZXXXXVWWWWWfYFKSgmkmbRsWpngqlVoYujmdBpjhmmncWaXLXXBIJA8GMDC6F05IEDIF23E6IFDHdQJWR",
    "bQIRjJUNWWiWVYgVUUWXVVVUUfaJMQesdNipIjpcficqidNUeMaifdcimiVZTLUP4G1P1FI16M046E2B50E03LOD25dNUWO",
    "RVIPlKYQacZWXWgYYZZZXVYWXTWNYSboNMUVNJZYehoVXbaTieMGfZYtokigTLdgCEG63E0Q8938CEDPO80E85BG76gUOWX",
    "VTGPfKROVbYWTWfVVXWWXVWVWWXJSRZeOMTSIMFBNMoSTCMZiWJIOPWXkkbgRLXW4954E77GDNR978A6253CD772EEYQRWb",
    "VXFPlKfQWUlYbZZUVVVVVTVWUYhFIdjjacfhjislhlnceYretofqdmkelqWWYLSQ8DGD64AN8H95HS0FLED10H9L1FdPMWE",
    "YTHPlKULTabWSWkbbebRVZYigWTGUTglVmtlgihkccpXdOaSePaQdefqguSXSLYSICMJ2I70BYc3J2CRE4A6BELG07fPKWY",
    "TQIPjKROYYmVWSkSYbUUbThWVYUFRWfoOeSYNaplNkXfYlQOiVcTxchmmlWUSLZQ7CVH6O7MAIJG733HO269IK6INBdRAWV",
    "WbIPiKWMcVgcWTVcZXYcdTXarZfHRTSmbeshdpfVWeMoRnWZZpbhvXoihvWaVLXU2200230MLRG18004DE21P3L1c1dQJWM",
    "WTIPlKRNRWcXXYmaZTZdXbXagVRGLTgkloSqqqtongmrholfrihheporniWYTLXT83KH0F4EFM0XKF6K8D1J5CVJCLdOHWG",
    "WRIRlKSVVViVOTleOdfcbWZPbSUGOUYcEFJUXPbeJltQiYMScfRKsckdijSYcLXYKHA0680IIRLQMGKICNF8QJ78NCdRLWN",
    "gRFPlKUPWWWWWRfYVXUQbVocXVXDPTeiEZTsQZOjWilSYgWKqYVScYRmcheMbLSTE4B87GD5BOH9T97ALS54E6SY0IdQHWM",
    "VeHPlKXQVSibbZndadTaZhbZWVUIOPkhdaTgjDVdWhmXdftbXZQZjapoisVYSLWV90MG1KPPBQ4G6E84TS6GIEGLBNdQaWN",
    "URNJaHQQUOfUXVpPkhXMiZcZjWVDNPQlYfOUMTTQLloMKQUMocIHlRjmlmUTVLXVBL81450SDH53N4HCVH30K4FBCJYPSWQ",
    "eaIPlQWUkZhYZbabceaVbVWehdZEOSViaeVIWNmnkfjlXagXtWcZcnWmipUaVLXX4B94L60LHR563035f06A250C5KhQJZJ",
    "WWLPoKURYYofYebbZYUXaahTiUSORPZhdiTUNakYRbmgGSdMneMTsdkppmQXRLaXD0DF0HI2HF60A525L1A25MGE7LcVMWJ",
    "WQIPlKRGUWoQYWgbkRaYUaZXjVUFLSgjtjfmnnvcnftjudfznrjilkpilqVXTLQRMJLbQPIKIMR0QRMKAYA30QTKFRXRJW7",
    "bRPPiPSNVWjWUZhYVXXhTPdNSXVNVVbjadLiTSbQTkQYXGIFlPDTjIQocuOYRLVW6D5019379N2B857GID45KAAG0LcQKWR",
    "XXKTfKVSXfjWUVkkcfbXcdRSYXdSXdfnSwZXlVkXNqiOJPdNqZSZWZgjmqYTZLbYGMDO63F6DJB7MND1BF459G4N9KcWOaY",
    "WQJPfKTSWQUWVVicXWPVXTVcgYVNRXYWVODNHPUAMdbNELVRoHK4FGfmimRRULTS9JCC2EI32aHABDA4A4ACMFBD76aTJWP",
    "WaIPlKOHYNfWRYSRSYRlVVPaYcQFFScrhclfolwlyrdmgphSifmgjhopclWYYLPS3011020R8TR607L3M113aJbDHPdRJWJ",
    "WQIPgKMSXWqTlWgYWbPZiXWWfUUHJReujopcqciaipddkwgnnjjlnmkmmjOYYLVRBFSH0RKH8L5EJ9CYMTMDJJNSBKbTJWN",
    "TONOlKSTUYjVPRdgecWbfaiecVTFKRghUeRTTncbinhghjchpzVkbqkctfUdTLPS6QK90ME08000J63JO60DFH0KHGeRJWG",
    "WQIPbKTNVWhXWXhWVVUUXTVUWcfDgWgihbbaYbqZOlcJlYZgqDNQljQuqiUWWLXVDSDSBGTP9QO58ES79XH79LF88PhUMWQ",
    "SSGPlKUKWXsVYUwYXWTSYVQYZWZGUVXiESQSYYXmZjTRWPJCrbBOTQkjvlWZSLaWUOMaDKRfESOEBHJGOD4OR8RVRLYUFWe",
    "WWIPlKYHVepaS-kejVchWfmZcbUFLXvrTgaZqdsinekncbn-qvqlejh+duWXTLZUHISN7GaMKRGNMCIJfbN9AS352JdQJWI",
    "G0TKFGDGGGXISGG86A4777646GGGGGGAOWMUXfWLeSQTMVXcQQePUWRTQQG3GGgGefZgopfcmkcUeaifhnfZYWbhdhLGOGh",
    "ONGCMQbWLVGSYcSOSQONNOOOOMMGUKKG11D69041B16615DN1191105111OSGIGQZZbYUSZdaZaWYXadaajcaZYaaZK1KGa",
    "G0KWLGWd5PS5GL3GGGGGGGGGG06NFAGKKKbKKKKLKKKKVKKOKKQIKKKKKKRKRGLFWXYXXVXXXXXXWaXXXTXVXXXXXXNYKGX",
    "GPXGGGPGGGGQGGNUVUUUWUUUUGGGGGGGUKKKSKHKKKKKQKKKKKMKKKKKKKOGUGGGRNORTOOOOOOPONOQOQMOOOOOOOGGG5O",
    "XHIPaKPGcZuXXWjZYYZZZZZZZUlDLFckmjefcfpngrkwcZfljwfjjmjjgbWYTLQRS5AIKKGCgGCPKJLL1JCFYJ5XWJdRJWT",
)
"""For each symbol a row: what each other one costs behind it."""

COMMON = """
abc ability able about above absolute accept access according account action actual actually ad add added adding
addition additional address addresses admin after again against agent algorithm algorithms alias all allo allow
allowed allows along alpha already also always amount an and annotation another any anything apache api app appear
append applicable application applications applied apply appropriate apt arbitrary arch architecture archive are arg
args argument arguments arm around array as assert associated assume async at atomic attempt attr attribute attributes
aut auth authentication author authors auto automatically available avoid await awk ba back backend background backup
backwards bad bar bas base based bash basic baz be because been before behavior behaviour being below best better
between big bin binary bind bit bits blob block blocks body bold bool boolean boot both bound boundary br branch break
broken browser bucket buf buffer bug bugs build building builds built bundle bus but by byte bytes ca cache cached cal
call callback called calling calls can cannot capture case cases cast catalog catch category cause caused cc cd center
certain certificate change changed changes changing channel char character characters check checked checking checks
child choose chunk ci cl claims clas class classes clause clean clear cli client clone close closed cmd co code codes
col collection color colors column com comes command commands comment comments commit commits common compare
compatibility compatible compilation compile compiled compiler compiling complete completion component components
compress compression condition conditions conf config configuration configure configured conflict conflicts connect
connection consider considered console const constant constraints constructor contain contained containing contains
content contents context continue contrib control conversion convert cop copies copy core correct corrected correctly
corresponding could count coverage covered cp cr crash create created creates creating cross crypt ctx cur current
currently cursor custom cut cv cycle cycles dash data date day de debug debugging dec decimal declare deep def default
defaults defin define defined defines definition definitions dej delete delta depend dependencies dependency dependent
depends deprecated derived described description designed desktop destroy destroyed detail details detect detection
determine dev developer development device dict did die diff different dir direct directive directly directories
directory disable disabled dispatch display dist distributed distribution do doc docs document documentation
documented does doesn doing don done dot double down download drawing driver drop due dump during dynamic dynamically
each easier echo ed effect either element elements elif else email emit empty en enable enabled enables encode
encoding end endpoint engine enough ensure entity entries entry enum env environ environment eq equivalent er err
error errors escape escaped etc ev even event events every everything ex exact exactly example examples exc except
exception exceptions exclude exec executable execute exist existing exists exit exp expect expected experimental
explicit explicitly export exports expr express expression expressions extended extends extension extensions extent
external extr extra extract extracted factor fail failed fails failure false far fast feature features fetch few fi
field fields fil file filename files filesystem filter filtering fin final finally find firewall first fix fixed fixes
flag flags float floating floor flush fn folder follow following font foo for force foreach form format found
foundation frame framework frameworks free from fs full func function functionality functions further future gained
gcc ge general generally generate generated generator generic get gets gi git github give given glo glob global go
good got granted graph greater grep group groups guess ha had handle handler handling hard has hash have having he
head header headers heap help helper here hex hi high highlight him history hope host hour how however href html http
https hyp hypothesis id identifier idx if ignore ignored im image img immediately implement implementation implemented
implements implicit import important imported improve improved improvements in inc include included includes including
incomplete incorrect indent index indicates individual info information init initial inline input insert inside
install installation installed installing instance instead instruction instructions int integer integrity intel
intended interactive interface interfaces internal interpreter intervals into introduced invalid io is isn issue
issues it item items iterator its itself jak jan jav java join journal js json just keep kernel key keys keyword
keywords kind know known label lang language languages large larger las last later latest law layout le leading
learned least leave left legacy legal len length less let level li lib libraries library license like likely limit
limitation limits line lines link linked linker links linux liquid list listed lists literal ll load loaded local
locale localhost location lock log logging logic logical login long longer look loop lot low lower ls ma machine
machines macro made magic mail main major mak make makes making malloc man manifest manual manually many map mapping
mark marked marker master match matched matches matching math matrix max maximum may maybe md me meaning means meant
medium member memory menu merge merged message messages meta metadata method methods mi might migration min minimum
minor missing mm mod mode modes modifications modified modify module modules mon month more most move mp much multi
multiple must my name named names namespace native ne necessary need needed needs net network never new newer next
nick no node nodes non none nor normal normally not note notes nothing notice now np npm nu null num number numbers
obj object objects obtain obtained occurs of off offset often ok ol old older omitted on once one only op open operate
operating operation operations operator operators opt optimization option optional options opts or order ordered org
origin original os other otherwise our out output outside over override own owner pack package packages packet page
pages pair pairs pam paragraph parallel param parameter parameters params parent parse parsed parser parsing part
particular parts party pass passed passing password pat patch path paths pattern patterns payload peer pending people
per perform performance perl permission permissions permitted persistent pi pieces pip place plain platform platforms
please plugin pm pod point pointer points policy pool pop port pos possible post pp pr pre preferred prefix prepare
prepared present pretty prev prevent previous previously primary print printed printf prints prior priority private
probably problem problems process processed processes processing produce produces product profile program programs
project projects promise prompt prop properly properties property protocol prototype provide provided provides proxy
ps ptr public publish published pull purpose push put py python query queue quote ra raise raised random range ranges
rather raw re read reading real really reason receive received recent recommended record recursive reduce ref
reference references regardless regex region register registry regular related relative release released releases
remain remote remov removal remove removed rename render replace replaced repo report reported reporting reports
repositories repository reproduce request requested requests require required requirements requires res reserved reset
resolve resolved resource resources response rest restricted result resulting results return returned returning
returns rev revert revision right rights rm role root round rule rules run running runtime safe same sample sans
satisfy save say schema scheme scope script scripts se search sec second seconds section sections security sed see
seen select selection selector self sell send sensitive separate separated separator sequence server service session
set sets setting settings setup several sh shall share shared shell shift short should show side sig sign signal
signals signature silent similar simple simply since single site size sizes sk skip slice small snippet so socket
software some something sort sorted source sources space span spec special specific specification specified specify
split src ssh st stable stack stage standard start starting stat state statements static status std stdout step steps
still stop store stored str stream strict string strings strip strongly struct structure studio stuff style su sub
subclass subject submit subs success such suffix suite sum sun super supplied support supported supports suppress sure
svg switch sy symbol symbols syn sync syntax sys system systems ta table tag tags tail take taken takes taking tar
target targets te team tell template term terminal terms test testing tests text th than thanks that the their them
then there therefore these they things think third this those though thread three through throw thus tim time timeout
times title tm to token tokens tomcat too tool tools top total transform translate translation treated tree triggers
true try trying ts tuple turn two txt typ type typedef typeof types typically typing uint ul undefined under unicode
union unique unit university unix unknown unless unsigned until up update updated updates upgrade upload upon upper ur
uri url us usage use used useful user username users uses using utf util val valid validate validation valu value
values var variable variables variant various ve vector verb verbose verify version versions very vi via view virtual
visual void want warn warning warnings was way we web well were what whatever when where whether which while who whose
why wide width will win windows with within without won word words work working works would wrap wrapped wrapper writ
write writes writing written wrong www xml xs year yes yet yield you your zero zip
"""
"""Words of which each, and each beginning, is one token."""

SCRIPTS = (
    (0x0370, 0x03FF, 38),
    (0x0400, 0x052F, 14),
    (0x0590, 0x05FF, 33),
    (0x0600, 0x077F, 31),
    (0x0900, 0x097F, 38),
    (0x0980, 0x09FF, 65),
    (0x0B80, 0x0BFF, 66),
    (0x0E00, 0x0E7F, 59),
    (0x1000, 0x109F, 67),
    (0x10A0, 0x10FF, 65),
    (0x1780, 0x17FF, 90),
    (0x1E00, 0x1EFF, 51),
)
"""First and last character of a script, and what one costs in units."""

WHOLE = (
    "‐‑‒–—―‖‘’‚“”„†‡•…‰′″‹›‾⁄⁰⁴⁵⁶⁷⁸⁹⁻ⁿ₀₁₂₃₄₅₆₇₈₉ₗ€₹ℂℓℕ№"
    "ℚℝ™ℤ⅓←↑→↓↔↳↵⇒⇔∀∂∃∅∆∇∈∉∑−∗∘∙√∞∣∥∧∨∩∪∫∷∼≃≈≠≡≤≥≫⊂⊆⊕⊗⊙"
    "⊢⊤⊥⋅⌘⍵─━│┃┈┌┐└┘├┤┬┴┼╌═║╔╗╚╝╠╣╦╩╬▀▁▄▇█░▒▓■□▲▶▸►▼◄○●"
    "◦★☆☉☺♀♂♠♣♥♦♭♯⚭✅✓✔✿❯➖➜⟨⟩⟶⠀⥤ⴰ⸮、。々《》「」『』【】〜あいうえおかがきくぐ"
    "けげこごさしじすずせそただちっつてでとどなにねのはばひびふぶへべほまみむめもゃやゆょよらりるれろわを"
    "んァアィイウェエォオカガキギクグケゲコゴサザシジスズセゼソタダチッツテデトドナニネノハバパヒビピフブ"
    "プベペホボポマミムメモャヤュユョヨラリルレロワンヴ・ー一丁七万三上下不与专世业东两个中串丸为主久么义"
    "之乐九也乡书了事二于云五井些交京人仁今介从他付代令以们仮件任伊会伝传位佐体何作你使例保信修候值健像元"
    "先光克入全八公六共关兴兵其典内再写军出击函分切列则创初删判別利到制前劉力功加务动助動勝包化北区區十千"
    "华单南博原去县参及友双反发取变口古只可台史右号司合吉同名后向君否告员周命和品唐商喜嘉器四回因国图國園"
    "土在地场址坂型城基堂報場塔士处変复夏外多夜夢大天太夫失头奇奈女好如始子字存孝学學宇守安完宗官定宝实実"
    "客宮家容宿密富对寺导将小少尔就尾局居屋展属山岡岩島崎川州工左已巴市布希帝師常平年并幸广庄序库应店府度"
    "座康建开式引弘张張当录形彦影後得御微德心必志忠态思性怪恋息情想意愛成我或戦户戸房所手才打技拉拳持指按"
    "换据接控提操支收改放政故效教数文料断斯新方族无日时昌明星春昭是显時景智曲更書最會月有服望朝期木未本朱"
    "机李村条来東松构林果查标校株样根格桥梅森業楽模樹橋機次歌止正此武死段母每比氏民気水永求汉江池沙没沢河"
    "治泉法波注泰洋洞津洲活流测海消深添清渡港湖源溪漢瀬火点無然片版物特状玉王现現球理生用田由甲电男町画界"
    "番発登白百的皇目直相省看県真知石码研确示社神福秀秋种科称移程究空立站章竹符第等算管米类系紀素索結經線"
    "編红线组经结给统编网置羅美群義老者而联聖育能自舞航良色节花若英茶草获菜華葉藏藤行術街衛表被装西要見親"
    "视角解言計記設話語論计认记设试话该语说请调谷象貴败赤起超越足路身車軍转载输边达过运近返还这进连送选通"
    "速造連進道達遠選那郎郡部都配里重野量金鉄銀错镇長长門開間関门问间阳阿陈限院除陳陽隆隊雄雅集雪雲電需青"
    "非面音頭页项题風飛食館首香馬駅马高鬼魔鳥麻黃黄黒默龍龙가강개경고공과교구국군그기김나남내년는니다단대"
    "도동드들라로를리마만면명모무문미민바박방백보부비사산상서선성세소수스시식신씨아안어에여역연영오왕요용"
    "우원월위유은을음의이인일자장재전정제조종주중지진차천타터트하학한합해현호화회﹕！（），－１：；？～"
)
"""Characters beyond U+200F of which each is one token; any other there costs its bytes."""
