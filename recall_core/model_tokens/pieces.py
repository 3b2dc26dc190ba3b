"""Pieces that large vocabularies share. Written by `python -m benchmarks.tokens modern-fit`."""

from __future__ import annotations

UNIT = 16
"""Units of a token."""

DIGITS = "!#$%&()*+,-./0123456789:;<=>?@ABCDEFGHIJKLMNOPQRSTUVWXYZ[]^_{|}~"
"""What bits are written with: 0 to 63."""

LATIN = """
0a>1aP2aD2l#2n,2r#3on52t#1b~2a03d#3l#3ma#3n#4don+7ed+2b<3as33ey33ott33reviation+2cP2d33omen+5inal+3ul35lah32e43i#3l#4l
e#3n#3r<3t#4es#4h#4ic#2i#3l#4e#4idad#5ties,6y>3n#2l#3e@4d#4s#3ing#3o#3y#2normal+8ities+2o#3ard+3l,4ic#5tion+3r#4iginal
34t+5ion+3ut>3ve>2r#3a#4ham34ms34s+3e+3ic#3oad+3upt+6ly+2s_3ence+5t+3olut+7e>8ly+4r+5b+6ed+6ing+5ption+3t+4ract>8ion+3
urd+2u33nd+5ance+7t+3se+5d+5s+4ive+2y,1c~2a#3b+3d34emia+7c;8s+6y;3o#3s#2c~3eler+7ate+ad+9ing+aon+9or+4nt+6s+4pt>6able,
7nce+6ed+6ing+6s+4so+5s>6ed+7s+6ibility+8le+7ng+6ories+8y+3i#4dent+8al+aly+8s+4ón#3laimed+3o#4m+5mod+8ate+aing+bon+5p+
6anied+8y+9ing+6l+7ish+aed+ament+es+4rd+6ance+6ing>9ly;4unt>7ability+9le+7ed+7ing;7s>3red+6ited+3um,5ulate+ad+9ion+9or
+4r,5acy>6te+8ly+4s+5ation+as+5e+6d+5tomed+2e|3d#3nt#3ous#3pt+3r#4b#3s#3t,3ut#3y#2h@3a#4ble#3e04d#4l#5or#4n#4r#5s#4s#3
i#4e+5ve+7d+7ment;bs+6ing+4ne#5g#3ment#3o#3sen#3t#4en#3usetts#2i#3a#4l#3d;4s+3e#4s#3n#4g#3o#4n#5al#5es#4us#3ty#3ón#2ja
#3e#3i#2k83age#6s#3ed#4r#4t#3now+6led+9ge+bd+bment+bs+aing+3s#4on#2lC3e#4s#2o#3mpan+3n#4s#4te+3rdo+3s#3ustic+2p&2qu+4a
int+8ed+4ire+7d+6ing+5sition;bs+2re,4s+3oss;3ylic+2sH2t~3ed+4r#5ial#5s#3ic#4ng<4on_6s>4v<5ate,8d,8s+7ing+8on<5e>6ly+5i
dad+9es+6sm+7t+8s+6ties<7y>3ly#3or>5s,5y#3ress;3s<3ual>6ly=4s#2uerdo+3lar#3m+3te,2y#2z#1d~2a<3l#4ah+3m=4ente#4s33n#3pt
;5ation+as+5ed+6r-5ing+6ve+3r#3s#3ta#3y#4s#2b#2cG2d~3ed>4r#3ict+6ion+4ng>4tion;8al>aly=8s+6ve+3le#3r.4ess>7ed+8s+7ing+
3s;3y#2e43d#3l,4aide34phia#3m#4ás+3n#3pt+3qu+5ate+8ly+3r#4s#3s#2ge#2h#3dC3ere+6nce+4sive+2i#3a#4n#3c#3n#4g#3o#3p+4isci
ng+3r#3um#2j.3acent+3ud+4st=6able+6ed+6ing+6ment+as+2m+3in>5ister+aed+8ration;es+cve;bor;ds+4r+5al36tion+5e+6d+4ssion+
9s+4t+5s+5ted+6ing+2o,3be33les;6cent+as+3op#3pt+5ed+5ing+6on+3r#4a#5ble+5s#4es#4n+4s#3s#3w#2renal+7ine+3i34an32sB2t#2u
l+4t=5hood+5s+2v>3ance;7d>7ment+7s+6ing+5t+6age+9ous+9s+3ent;6ure;9s;4rs+6e+7ly+5t+6is+8ed+9ment+ds+8ing+3ice+4s+5able
+5e+6d+6r+5or+7s+7y;3oc+5acy+6te+8d+8s+7ing+2y#1eP2l#2r;3ial+2sK3t+4hetic+9s+1f~2a#2cC2e#3ct+3n#3ty#2f>3air+6s;3e#4ct+
6ed+6ing+7on+6s+4n#3id+4li+6ate+9d+9s+8ion+4ne+5ity+4rm+6ative+6ed+3ord+6able+6ed+2ghan36istan32i#3n+2ka#2lC2orementio
ned+2raid+3ica36n37s32t+3er>5math+5noon+5ward+9s+1g~2a#3in>5st<3n#3r,4a#3tion#2eB3d,3m#4ent#3n#4cies+5y;4da+4s#4t>5s<3
r#4s#3s@2g,3er#3i,4o#3rav+4eg+6ate;9d+9s+8ion+5ss+7ion+8ve+2h#3er#2i#3c#3nation#4e#4g,2le#2n#3a#3e#4r#4tic#2o,3g#4ue#3
n,4al#3ra+2r;3a#4m#4ph#3ee+5d+5ing+5ment;9s+5s+4g+3icultural;ae;2s#2t#2u43a+3e#4s#3s#1h~2a#3n#2ead+2i#3r#2kan#2l#3en#2
mad33ed32n#2o#3ma#3o#3ra+2r#3en#2u#3n#1i~2d<3e+4d+3sK2gn#2l,3ability#5le#4nd#3ed#3ing#3le#3s#3ure#3y#2m<3ed+3ing+3s+2n
03a#3da+3e#4d#4n#4r#4s#3ing#3s#4i+3t#4ed#2r>3borne+3craft;3e#4d,4s43flow+3line+7s;3o#3plane+4ort;7s+3s#3ways32s#3er#4s
#3le+3on#2t#1j_2a#3r#3s#3x42e#3s#2i#2o#2u#3st+2ą#1k~2a,3n,2e#3d#3n#3r#4s#3s#4peare#2h#3ir#2i#3n,4g#3s#2k#2o,2ra#2s#3i#
2t<3e#4r#3ion#4v,3u#2u#3kan#2y#1l~2a#3bama33ch#3h#3m43n64ce#4d#3r#4m;5s+4y#3ska32b33an35y33eit+4rt56a36o33um>5s+4querq
ue32c,3an+3ohol;7ic+3ulate#2d43i#3o#2e@3b#3d#3igh#3m#3n#4t#3r#4t>5s+3s#4s33x54a35nd37er57ra38ia34is33y#3z#2f43red32g,3
ae+3ebra;4r33o+4rithm>9s+3un+5a+6s+5os+5s+2i>3a#4n#4s,3c34e53e#4n<5s+3gn.5ed+5ment>3ke+3ment+3n#4g#3on#3qu+3s#4on33ty#
3ve;2k,3al+2l~3a,4h44n34s#3back#3e>4d#4en+4g;5ations+5ed+7ly+5iance+4l#5e+4m+4n<5ge#4r,5g+6ic+6y+5y#4s+4t#4viate+4y+3i
ance;8s+4ed;5s+4ng#4son33o,4c,5ate,8d+7ing+8on+as+4w>5ance+5ed.5ing+5s+4y+3s#3y,2m#3ost>2o#3g#3n#4e<4g>5side+4so33re#4
s+3ud+4s#2ph,4a>5bet+2ready>3ight+2s_3a#3e(3o>2t~3a,4r+3e+4n#4r@5ation+as+5ed+5ing+5n>6ate+8ing+9ve=bly;bs+3h#4ough>3i
tude+3o<4gether+3ri+3ung#4ra+2u#3m+4inium+6um+4ni+2varez32ways>2y42zheimer31m~2a03n#4da33r43s#3t#4eur+3zed+4ing;4on52b
>3a#4h#4ssador;3da#3er<3ient+7e+4gu+6ity+6ous+4l#4o#4tion+8s+7us+3le#3ulance+2dD2e#3d#3l#3n<4d+5ed+5ment;9s+4ities+4t#
5al#5e#5i#5o#6s#5s#3r<4a#4ica57n=8s37s33s#3t+2i,3c#3d+4e#4st+3ento#7s#3gos+3l#4iar#4y#3n#4a#5tion#4e#4g#4o+2l(2m#3a#4d
#3ed#4n#5t#4r#5s#3on+3unition+2o#3n#4g>5st+3r+3s#3to#3unt>6ed+6s+4s#2p|3a#3ed#3h+3ing#4on#6s#3l;4e05s#4ifier+5ng#5tude
+3s#3ton#2s#3terdam32t#2u#3s#4ement+2y61n~2a<3l>4og;6ous+6y+4y+5s+6e+7d+7s+6is>6t+7s+5tic+8al+8s;5ze+7d+7r+6ing+3n#3rc
h+3s#3tom+6y+2c<3a#3e(4d#4l#5lor#4r#5s#4s#5t+6or+8s+6ral+7y+3h,4e,4or>6ed+6s+3ia#5l#4ent;5s#4ng#3ock#4ra+4uver#3y#2d~3
a<4l#4s#3e#4d#4l#4n#4r,5e+6n+5s;6on34s#4z#3i#4d#5ate#8s#4n#5g#3le#5r#3o#4m#4n#3r#4a#4e;5a36s35w56s34o#5id>7x+3s#3um#3y
62e#3cd+3l#3ous#6ly#3s#2gB3a#4n#3e04d#4l>5a35es35s;4ment#4n#4r,5s#4s#3i#4ng#3l+4ais+4e>5d#5s,4o33o#3ry+3s#3u#4age(5rd#
4lar<2h#2i,3a#4n#3c#3e#3m>4al>6s;5te,7d,6ion>9s+4e;3ng#3ta33u#4m#2j#2k03a#4n#4ra33ind#5g#3le+3s#2mar#2n_3a64h#3e64d#4l
#5s#4r#5s#4s#4x+3i,4e34s#4versary;3o,4n#4t,5ated+7ion>as-4unce+8d+8ment+8s+7ing+4y+5ed+5ing+3ual;6ly+3y#4a#3ée+5s+2o,3
l#3mal+6ies+6y+3n#4ym+6ous>3s,3ther>2sB3as#3e#4n#3i#4on#3k#3on#3t#3wer>6ed,6ing+6s>2tB3a#4ge#5on+4l#4n#4r34s#3e,4d#4n#
5na+4rior+4s,3h>4em+4ony54rop;3i>4b+5iotic+as+5odies+7y+4c#5ip+7ate+ad+9ion+4depress+4ne#4oxid+8ant+4qu+6e+4s,3ly#3o#4
m#4n45io33s,3wort42us#3t#2x+3iety+4ous+2y~3a#4k#3body+3ch#3e#3more+3one=3thing;4ime+3way=4here+2z,3a#2ál+1o|2s+1p~2a,3
che33n#3r+4e+4t=5ment+9s+3t#2e#3d#3nas+3r#4s#4ture+3s#4t#3x+2h#3ore#2i~3ng#3s#2l+3ic+5ación+4k+2o,3lis#4lo34og+6ize+6y
+3n#4s#3r#4an#3st;2p~3a#4r+5atus+5ent+8ly;5t+3e<4al;6ed+6ing+6s;5r+6ance+as+6ed+6ing+6s+4d#4l+4n#5d<6ed+6ix34r#4t+5ite
+3ing#6s#3l+4e>5s+4iance+9s+5c+6able+7nt+9s+7tion>bs=5ed=6s+4y>5ing+3oint+7ed+7ment+bs+3raisal+4eciate+ad+9ion+5nt+7ic
es+4o>5ach;8ed+9s+8ing+5pri,8ate,bly+5val+6e+7d,5x,6imate+bly;aion+3s>3y#2r=3end+4sent+3il=3o+3ès+2s#3e#4d#4s#2t,3er(5
s#3ic#3op#3ure#2ós+1q#2u<3atic+3e#3i+3í+1r~2a#3b;4ia36n35c34s33h#3k#3m#3n#3s#3t#2b,3eit46s33it;5r+6ary+7tion+3or32cB3h
B4ae;6ological+5r&4er34ical#5tect;9s;9ural+be;cs+5ve>7s;4y#3s+3tic32d83a#3e#4d#4n#3i#4n#5g#3less#3o#4n#3s#3uino32e~3a>
4s<3d#3l#3m#3n,4a<3r#3s#4t#3t#4h#3z#2f#2gB3a#4s#3c+3e#4nt#6ina34r#4st#4t(3in#3o#4n#3parse+3s>3uably+4e+5d+5s+4ing+4men
t>8s>3v,2i43a,4l#4n#5s#5t#4s#4t#5e#3e#4l34s#3ly#3n#4e#4g#3o#4s#4us#3s#4e+5s+4ing+4t;5otle33thmetic+4y#3um#4s#3zona32k@
3an#5sas33ed#4r#4t#3s#2l#3ington33o#2m~3a#4c#3e#4d<4n35ia37n33ies+4ng#3or+5ed+4ur+3s<4trong33y;2n:3a#3ing(6s#3old32o#3
m+4a+3n#3se+3und>2p#2r>3ang+6e;7d+7ment+bs+6ing+4ss#4y>5s>3est+6ed+6s+3iv+5al+5e+6d+6s+5ing+3og+5ant+4w>5s+3y#2s83e#4n
al;3i#2t~3a#3e,4n#4r,5s#5y+3h#4ritis+4ur53i#4c+5le>7s>5ulate+4fact,8s+5icial;aly+4kel34llery+4san+5t>6ic+6s;3ment#3o#3
s<3work+3y#2u#3s#2y03a#3l#2á#2ı#1s~2a#3d#3ki#3n#4t#3r#2c~3ade(3end+6ing+5t+4rtain+3iiC3ular#2dC2e(3d#3g+3r#3s#2hB3a#4m
ed+3board#3ed#4s,3i#4ng#6ton#4on#3ley32i,3a64n33c#3de<3gn+3ng#3o#4n#5ally#3s#4wa#2kB3a#4n#3ed+4ll#4t#3ing+3s,2leep+2m#
3a#3ine#2o#3ci+3n#2pH3ect+6s+4r#3halt+3ir+5ations+2s>3a#4dor#4ss+6in+8ation+4ult+7ed+4y+3e#4d#4mble+8d+7ies+7y>4n#4r#5
t_6ed+6ing+7on+9s+6s+4s#5s+6ed+6ing+6ment;as+4t>5s>4z+3ic#4gn>6ed+6ing+6ment=as+6s+4m+4n#5g#4s#5t;6ance;8t=9s+6ed+6ing
+6s+4um#3o#4ci;6ate;9d<9s;8ion=bs+9ve+4rt+3um+5e;6d+6s+5ing<5ption+as+4rance+5e+6d+3word#3y#2t~3a#3e#4d#4r,5oid+5s#5xm
l#3hma+3i#4c#5ally#4ng#3o#4n;5ishing+3ro#5naut+3s#2ure#5s#2y#3lum+3m+3nc>5hronous+2z#2í+1t~2a03base#4le#3ka#3l#4og#3n#
3r#3s#4et#3u+2ch(4ed#5s#5wan#4ing#2e03d(3g(4or#6i#7a#7e#8s#6y#4y#3ly#3m#4ent#3n#3r(4al#4ial#4n#5ion#6ty#4s#3s#4t#3ur#5
s#3ver#2form#2h@3a#4m#4n#3e#4n35a35s34r#5ine#3i#3lete+7s+6ic;8s34on#3on#3y#2i#3al#3c#4a#5lly#4s#3e#4nt#3f#3le#4ity#3n#
4g#4um#3o#4n(5al#5s#3s#4f#3v#4a#5s#4e#5ly#5s#4ity#4o#5s#2l63anta36ic54s;2mK3os+5phere+9ic+2o#3es#3ire#3m>4ic<4s+3n#3p+
3r(4e#4i#5al#5es#5o#5um#4s#4y#3s#2pC2ra#4v+5és+3e#3i#4b+4ce#4x#3o#4c+2s#3by#3u#2tB3a#4ch,6ed+6ing+6ment.as+5k>6ed+7r+8
s+6ing+6s+4in+6ed+3e#4d#4mpt=7ed+7ing+7s+4n#5d+6ance+8t+6ed+7es+6ing+5t+6ion;5u+4r#5ed#5ing#5n#5y#3i#4ce#4re+4tude+8s+
3le#3o#4rney;8s+3r.4act+7ed+7ing+8on+as+8ve+7s+4ib+6utable+8e>9d+9s>8ion+4o#4s#2u#3al+3m#3r#4a#5l#5ted#4day#4e(5s#4ing
#3s(2y#3pe#2z#2é+2ó#3rio#2ă#1u~2b33urn32c,3h;3kland33oup#3tion+2d<3i;4ence+8s+4o>4t;5ion+5or;2en#3r#2f<2g>3e#3ment+7at
ion+7ed+3ust=6ine32jourd+2l#3t#2ment+2nque+3t;2pt#2r<3a+3ora32s<3e#4s#3ge+3s<4i+5an#3t34in34ral37ia59n5as35ia37n32t_3h
>4entic+9ate+cd+bion=9ity+4or>6ed+6ised+7tarian+9tive+8ies+8y=7zation=8e+9d+6s<3ism+3o>4bi+4c+4m;5at+7e+8d+7ic;9ally+8
on;5obile+as+6tive+4nomous+7y+4psy+4r<4wired$3re+5s+3umn;2x<3iliary+1v~2a#3d#3ge#3il+5ability>7le>4t+3l43n#4t+3r#3scri
pt#3tar>2e@3c;3d#3l#4ength#3n#4gers34ue;6s+3r,4age>7d+7s+6ing+4s#4y33s#3z,2g>2i#3a#4tion;3d#3er#3gation#3n#4g#3rus#3s#
3t#3v32l#2o#3id;5ance+5ed+5ing+5s+4r+3ns+3r#4ite#7s#3ur#5ite#2y#1w_2a#3h#3i#4t,5ing+3ke+3n#3rd;5ed+5s;4e,5ness+3y<2e+3
some>2ful+2i#2k,3s#3ward+2n#3ing#2sH1x~2e,3s,2ios,3s>2le+2on#2y#1yB2a#3n#2e#3r#4s#3tte#2load#4r#2ment#2o#3ut#2s#2ud+4a
+1z~2a#3r#4d#2e#3rbaijan32i#3ne#3o#4ne#5i#2o#3le#3n#2u#3re62y#2z#3i#3o#1ç+2ão#2ões#1ñ,2o+3s+1ún+1ż#0b>1a~2ar#2b<3ies+3
y=4lon32c33h44elor;3k~4bone+4drop+4ed+5nd,4ground>as+4ing+4pack+4s,4up;4ward+8s+4yard+3on;3ter+6ia+8l+2dB3ge+3ly+2ff+2
g>3ai#3e#3gage+3hdad33s+2h<3rain33wa+2il+4ey33t+2jo+2k<3e+4d+4r33ing+2l_3ance>7d,7s+6ing+3cony+3d;4win33i33k33l>4et+4o
on+5t+6s+4s+3t34ic35more32m33b+4oo+2n>3ana+3c+4o33d>4s,4width+3e#3g>4alore34kok34ladesh33k>4ing;4rupt+8cy+4s;3ned+5r;3
yak+2o#2pt;4ist32r_3ack33b34ara34er33celona34l33d<4zo+3e<4ly+3g+4ain+7ing+3k;3n;4es33on33r;4ed+5l+6s+5tt34ier+7s+4y33s
<3t44on33u+2s_3e~4ball;4d>4line+4ment+4s+3h<3ic>5ally=5s+4l;4n;4s;3ket;6ball;3s;3t;4ante+5rd+2t>3ch>5es+3es33h;4ing+4r
oom+3is#3man33s+3t;4alion34er;6ies+6y;4ing+4le=6field+6s+2u43er33m#2v32y>3ern32z+1bP2cG2e#3n#2ing#2ox#1cP2eC1dX1e~2a33
ch;5es+4on+3d+4s+3m<4s+3n>4s,3r;4d+4er-4ing+7s+4s;3st;5s+3t>4en+4ing+4les34s+3u+4coup+4t;5iful=9ly+5y;2b+2c43ame+4use>
3k44er33ome+6s+5ing+2d>3ford33room+7s+3s+2e<3f+3n=3r;3s+3t+2f,3ore>6hand+2g<3an+3ging+3in~5ner+6ing=9s+5s+3un+2h;3alf+
4nd+4ve+6s+5ior=8al;8s+7ur-9s+3ind=2i<3den+3jing33m+3ng>5s+3t42k<2l_3arus33e+3fast33g34ian35um33ie+5f,6s+5ve;7d+7rs+7s
+6ing+3l<4a34e;4s+4y+3ong+6ed+6ing+9s+6s+4ved+4w>3t;4s+2m+2n>3ch<5mark+3d;4ing+3e+4ath+4d35ict34f;5ici+8al+9ries+6t+7e
d+7s;3g34al33ign+3jamin33n34ett33son33t;4ley33z;2rB3apa#3e<4ich35ts+3g<4er43k34eley33lin33m33n64ard34ie33ra#4ies#4y63s
,3t<3y#2s>3ch;3ide+6s=3oin+4nders+3ser+3t_4e+5n+4os#2t_3a>3h33ray+3s+3t34er>4ing+4y33ween>2ver35age+8s+5ly32w;2y;3ond=
2z+1fH1gR1h[2ar31i~2a#3l#3n43s+4ed,5s+2b<3le34i;5cal+2c+3y+4cle+2d<3den#4ing+3en33s+2e#3n;3ten+5t+2g_3ger+5st+2j,2k+3e
;4s+2l<3ateral+3d<4er33e+3l>4board34ing+5on+7s+4s;4y33t#2n>3ary>3d>4er+4ing>4s+3g43s+2o>3d+4iversity+3graphy;3logical;
6y;3m+4ass+3s[2p+3olar+2r<3d>4s<3mingham33th>5day;5s+2s<3a+3exual+3hop<6s+3t+2t~3coin;3e+4s+3ing+3map-3s.3ten+5r+2z;3a
rre+1j82ect#1kC1l~2a#3ck>5s;3dder+4e;5s+3h+3ir33ke33me+5d+3nc;4d+4k>5et+7s+3st,3t+2e@3d#3ed+5ing+3m#4s#3nd+5ed+5ing+5s
+3s#4s+5ed+5ing+3v+3w+2i+3j+3nd;4g#4k+3r+2o;3b+3c+4k>5ade+5chain+5ed+5ing+5s>3g>4s,3nd+5e+3od=5y+4m;3que+3ss+3w+4ing+4
n+4s+2u33e>4print$4s;4tooth33nt+3r+4red+3sh+1mH2iC2pC2wC1nH1o~2a#3rd>5ing,5s,3t<4s+2b=3by32d;3ies+4ly+3y>2eing32g;2h32
il+4ed+5r+4ing+3s+2l<3d<3e#3ivia33ster+3t<4on34s+2m;3b;4er+6s+4ing+4s+2n>3d<4ed+4ing+4s+3e<4s;3ne+4ie33s#3us=5es+2ok>4
ed+5r34ing>4s>3lB4ean>3m;3st>5er+5ing+3t>4h;4s+5trap;2r<3d+4er>6ed+6s+3e+4d+3g43ing+4s33n>4e,3o#4ugh,3row+6ed+6ing+2s<
3ch33nia33s<4es+3ton52t>3h>4er+6ed+3t;4le+6s+4om>2u;3ght+3levard33nce+6d+5ing+4d>5aries+7y;5ed+5ing+5s-4ty+3r<4g#5eois
+4ne#3t;4ique+2w<3el+3ie33l;4ing+4s+2x>3es,3ing;2y>3d33friend+3s<1pP1r~2a]3ce,5s+4ket+7s+3d54ford34ley34y33h34im#3in>5
s+3ke+5s+4ing+3l#3m33n;4ch>6es+4d>5ed+5ing+5on35s+3s<4il36e+4s;3un33ve;5s34o33z34il56ian32e>3ach+4d<5th+4k>5down+5er+5
fast+5ing,5s+5through+4st;6feeding+6s+4t+5h;6e+6ing+3d+3e+4d+5ing+5s+4ze+3n34dan34nan34t33t34t33w42i33an53ck;5s+3d<4e;
4ge>6s;3ef<5ly+3g;4ade34ht>6er+6ly+6ness+6on33ll;5iant+3ng=5ing+5s+3sbane34tol33t=4ain34ish54t32o>3ad;5band+5cast;9er+
9ing;9s+5er+5ly+5way33ck33ke+5n<5r+3m33n>4cos34x34ze;3ok45e35lyn35s33s33th+5er;7s;3ught+3w;4n=5s34s+5e+6r=7s+5ing+2u<3
ce53ins33n;4o34swick33sh>5ed+5ing+4sels33t;4al+4e+2y33an35t31sR2d&2tD1tP2n.1u~2bble+6s+2ch43k;4et.6s+4s32d<3apest33d34
h35a35ism37t34y;3get=6s+3s+2en+4a+4os32f.3f>4alo34er>6s+2gB3s+2ild>5er>7s+5ing>8s;5s+4t>2k32l<3b+3garia33k+4y+3l<4d35o
gs34et,6in36s+4s34ying+2m+3p+2n;3ch+3d;4es34le=6d+6s+3k+3ny32oy+2r>3den+6s+3e+4au;6c+7racy+3g<4er<4h#3ial+4ed+3k34e33l
ington33n>4ed+5r+4ing;4s;4t+3st,5ing+5s+3ton33y,2s>3c+4a+5r+3es+3h;4es+3iness>8es+8man+3t;3y+2t>3ler33t+4er;6fly;4on>6
s.2y>3er+5s+3ing+2zz;1vG1wO1x,1y~2e,2pass+2ron32te>4r#4s>2ć+1zw+1ü31ęd+3zie+0c>1a~2b;3e+3in+5et;7s+3le;5s+2ch+4e>5d+4i
ng+2d|3a+3e+3re+2esar32f;3e;3feine+3é;2ge;2in33ro32ke;4s+2l_3c>4ium+4ul;6ate>9d+9s+8ing+9on+bs+8or=3d34er33e#4nd+6ar>3
f+3gary33ibration+4dad+4f35orn38ia53l_4back.4ed>5r+4ing;4s+3m+4ly+3ories+3vin32m~3b;4i+5ar+5o+4odia34ridge33e;4l;4ra=6
s+5on33p>4aign;8s+4bell34ing+4o;5s+4s+4us;6es+2n~3ada55ian58s34l;3berra33c+4el>6ed+6l+7ation+7ed+5r;6s+3d;4id+6ate=9s;
4le+6s+4y;3e+3ine+3n;4abis+4on;5t>3o#4n;5ical+4py+3s+3t;4idad+4on33vas>3yon32p~3abilities+9y+5le+4c+5ities+7y=3e<3it+5
a+6l>7ist+8ze+5ol33ped+3s,4ule+7s+3t;4ain=4ion.5ve+4ure=7d+7s+6ing+2r~3a+4ct+6er+3b+4ohydrate+cs+5n>3c+4in+3d>4board+4
i+5ac+5ff35nal;8s35ovascular+4s>3e>4d+4er;6s+4ful+7ly+4g+5ivers+4s+4t+4y33ga+4o+3ibbean34c+4ng+3l54o35s34son34y33m34en
33n;4egie33ol35ina37e33p;4enter35t+3r34iage+5e36d+6r;7s+6s+4oll34y+5ing+3s<4on33t>4a+4e+5r34oon+4ridge+3ved+2s_3a;3c+4
ade;3e_4s>4y33h=3i+4ng+5o;6s+3o+4s+3s;3t>4e+5r#4ing+4le<4ro34s+3ual+6ly+6ties+2t~3al;5og=7ue+5yst+4st+6rophe+aic+3ch<5
es+5ing+3egor+7ia+8cal+8es>8zed+7y>4r+3h;4edral35rine34olic38s33ion#3s<3tle+2ught+3s+4a+5l+4e>5d+5s;4ing+3t+4ion+6us+2
v;3alry+3e;4rn+4s+3ity+2y31bP2cC2dC2sC1cP2a#2c#2ess#2i#3on#5es#3ón#2o#1dP2cG2n#2ot#1e~2a#3n#3se+5d+2c32d83ar33es#3ure#
2ed#2il,4ing+3ve#5d#5r#2j#2k#2l<3a+4nd#3e=4br;6ate+9d+8ing+9on+bs+6ities+8y+4stial+3l>4e+4s>4ul+6ar+3sius33t34ic36s33u
i+2m#3ent;4tery;2n,3ce#3sorship+4us;3t>4age#4e#5r>6ed+6s;4ral>7ized+5e;6s+5o;6id+4s+4uries+6y;2oG2p#3t(4ion#7s#5ve#4or
#6s#4s#2r<3amic+3c+4a+3e+4al+4bral+4mon+7ies+7y+3pt#3r+3s#3t>4ain=7ly;7s+7ty+4ificate=bs+aion;7ed;3v+4ical+3y#2s@3o#3s
,4ion#4o#2t+3te;2ux+1fP2g,1gG2iC1h~2a<3d33ft#3in>5s+4r<5man;5s+3lk+4l;5eng+8e=9d+9s;8ing+3m;4ber;7s;4p;5agne+5ion;8s;9
hip;cs;3n>4ce;6llor36s+4d35ler34g;5e>6d>6r+6s>5ing;4nel>7s+4t,3os;4tic+3p;4el34man34ter>7s+3que+3r~4acter>9istic+es+az
ation+be+cd+9s=4coal+4ge>6d+6r+6s+5ing+4itable+6y;4l35es57ton35ie55otte34m+5ing+4s.5et+4t>5er;5s<3s#4e;5d+4ing+4sis+3t
>4s+4ting+3uff+2eB3ap+5er+4ting+3ck_5box,5ed.6r-5ing=5list+5out+5point+5s;3d#4ule#7d#7r#6ing#3ek+5s+4r+5ful+4se+3f;4s+
3id#4n#3lsea33m>4a#4ical<8s+5stry;4otherapy+4y#3n44g34nai33on#3r<4che+4okee34ry;3s44s;4t;5er43t#3vrolet33wing+3z,2i>3c
;4ago54k;5en;7s+3e#4f<5s;3ld>5hood+5ren>4e34l+3m+3n<4a=4ese54g#3o#3p<4s+3r+2loe34r,2n#2oB3col+6ate;3ice>6s,4r+4s+4x+3k
e+3lesterol+3ol#4se>6s+5ing+3p;4ped+3r,4d+5s+4e+4us+3s#4e+5n+5s+3w32r<3is55t=6ian=9ity39s37e37na38e36mas56opher53om<5e
<5osome+4n<5ic;7le39s32s#2t#3e#4n#4r#3s#2u43ck33nk+5s+3rch<6es+6ill32y#2é#1i~2aD3l#2c;2dD3ade+3o#2e#3s#2f+2g+3ar+5ette
+9s+2l+2miento#2n<3cinnati34o+3dy33ema;3g#2o#3n#2pher+2r<3c<4a+4le>6s+4uit;7s+5lar;7ted+8ing+9on+5m+6ference+6stance+c
s+2s,3co32t>3ation+8s+3e,4d+4s+3ies;4ng+4z+5en;7s;8hip+3rus+3t+3y>2udad;2v+3ic;4l=5ian+8s+6zation+2ón#1jC1kH2e#3n#3r#3
t#2o#2s#2t#1l~2a83im>5ed,6r#5ing+5s=4r#5e33mation#4p+3n;3r<4a34e34ification+7ed+6y+5ty+4k35e34o+3s+4e+4h+5es+4s_5e+6s>
5ic;7al;7s36fication;8ed,9r-as+7y+5room+9s+3ud35e34s35e+6s+3ve+3w+4s+3y;4ton32e<3an>5ed+6r+5ing+5sing+5up+4r>5ance+5ed
+6r+5ing+5ly;3m34ent33r+4gy+4k;3s#3veland35r+2iD3ck>5ed-5ing+5s+3ent>6e+6s;3ff;3m;4ate;5x+4b+5ed+5ing+3n<4g#4ic;6al;8l
y+6ians+6s+4t35on33p>4board+4ped+4s+5e#2o+3ak+3ck>5s+5wise+3ne>5d+5s+4ing+3s+4e>5d>5ly+5r+5s+6t+5t+4ing-4ure,3th+5es+5
ing+3ud>5s+3wn+2s,2ub>4s;3d#4e(5d#5s#4ing#3e+4s+3ms+3s(4ion#7s#5ve#4ter>7ing+7s+3tch+4ter+2y31mP2d.2p,2sC1nP2nG2t.1o~2
ach;5ed+6s+5ing+3l<4ition;3rse+3st;5al;3t+4ed+4ing+4s+2b;3b32c;3a34ine+3k<4pit+4tail+3oa+4nut+2d>3e~4d+4s>3ing<3y32e#3
fficient+bs+3rc+2ff+4ee;4in+2g+3n+4ition+7ve;2h#3en34rence+7t+3ol#4rt+2il+4s+3n>4c+5ide+8nce+4ed+4s+2ke32l~3a#4bor+3d=
3e<4man33i+4n33l>4abor;8ate+bd+aing+bon+bve+aors+5gen+5pse,8d+7ing+5r+5teral+4e+5ague+9s+5ct>7ed+7ing+8on>as=8ve;aly+7
or;9s+7s+5g;6e=7s;4ins35sion+9s+3m#3o#4c+4gne34mb36ia34n<5el35ial;6es+5y+4r_5ado35ed+5ful+5ing+5s>4ur;6ed+6s+3s,4pan+3
umbia36us35n>6s>2m~3a+3b>4at;4in+6ation+bs+6e;7d;7s+6ing+4o+4ust+7ion+3e>4back+4d,5ian+5y;4nt+5z+4rc+6ial+4s<4t+3fort,
7able+ay+7ing+3ic;5s;4ng>6s#3m~4a+5nd>7ed+8r;9s+7ing+7s.4e+5nce+8d+8ment+6t>7ary+8tor+bs+7ed+7ing+7s>5rce>7ial;aly+4is
sion;aed+br;as+5t>6ment+as+6s+6ted+8e<9s+7ing+4od;6ities+8y+5n>6ly+6s36wealth34un;6al+6e+6ic+8ate+bd+aing+bon>ds<7st;7
ties;8y>3o=3p_4act<5n+6ies;7on;9s+6y>5r=6able+7tive+bly+8or-6e>7d;7s+6ing+7son=as+6t+7ment+5ss+7ion+5t-6ibility+8le+5ñ
+4elled+7ing+5ns+7ate+ad+9ion+5t<6e+7d+7nce+8t+6ing+7t+8ion;bs+9ve+8or+as+4ilation+6e,7d+7r-6ing+4l+5ain+8ed+8ing+8t+9
s+5e;6ment+aary+6t+7a+7e>8d>8ly+8s+7ing+8on-7o+6x>7es+7ity+5iance+8t+6c+7ated+9ions+6ment+5y+4onent>9s>5rt+5s+6e+7d+7r
+6ing+7te=8ion<bs+6t+5und=8s+4rehend+9sion+bve;6nd+6ss+8ed+8ion+8or+5ise+8d+8s+7ing+5om+7ise+ad+4t+5e+4uls+7ory+5t;6at
ion+bal+6e>7d+7r>8s+7s+6ing;3un+5ic+2n~3c<4at#6en+4e;5al+7ed+5d+6ed+5ive+8d+5nt;7rate+bd+aing+bon+ds+5pt=7ion+7s+7ual+
5rn;7ed+7ing+7s+6t;7s+5ss+7ion+as+4ise+4lude+8d+8s+7ing+6sion=as+4ord34rete;4urrent;aly+3d>4em+6ned+5nsed+4iciones+5ti
on>9al,9ed+9ing+9s>4u+5c+6t<7ed+7ing+7or+5it+3e<4ct+4x+3f>4eder38ate35r+6ence;as+5ss+7ed+7ion+4idence+8t+9ial+city+5g>
6uration>ds+8e>9d+8ing+5ned+7ment+5rm>7ation+7ed+7ing+7s+5sc+4lic+7t=8ing+8s+4orm+4ront+8ation+8ed+4use+7d+6ing+7on+3g
54est+7ion+4o34rat+5eg+7ation+6ss;8ional;3j+4ug+5nction+6to+3n>4a+4ect>7ed.7icut38ng+8on>as+8vity+7or+9s+7s+4or33oc+5e
r+4m#5ic#3qu+5er+7ed+6st+3rad33s>4cience+8t+6ous,9ly+9ness+4e;5ctetur+6utive+5gu+7ir+5nsus+6t+5qu+7ence+bs+9tly;5rv;7a
tion;ave;7e+4id+6er>8able+by+9tion+ds+8ed+8ing;8s+5n#5st+7ed+8ncy+9t+aly+7ing+7s+4ole>7s+6id;8ate+bd+aion+5n+5rtium;4p
ic+6racy+4t_5ant>8ly+8s>5it+7u+8ency+at+bs+8te+ad+as+9ion;cal;5rained+9t-as-6uct>9ed+9ing+aon>ave+9or>9s+7ed+4ul+6t;7a
nt+as+8tion+cs+7ed+7ing+5m+6e+7d+7r=8s+7s+6ing+6ption+3t_4a+5ct>7ed+7ing+7o+7s>5g+5in+7ed+8r>9s+7ing+7ment+7s>5min+8at
ed+aion+4e+5mpl+7or+9ary;7t+5n+6d+6ido+6t>7ion+7s>5st;7ants+7ed+7s+5xt>7o+7s+7ual+4iguous+5n>6ent,9al;9s+6g+7ent+6u+7a
l+9ly+8tion+7e>8d+8s+7ing+8ty+7ous<aly+4our+7s+4r,5a+6ct>8ed+8ing+9on+8or+as+8s-8ual+6d+7ict+aion+aory+6ry+6st+8ing+5e
+5ib+7ute+ad+as+9ing+aon+cs+9or+bs+5o#6l>7led,9r>as.8ing+7s>6vers+aial+ay+3v>4en+6ience+9t+aly+6t+7ion;aal+as+5r+6genc
e+6s;7ation+cs+7ion=as+6t>7ed+8r-7ing+7s+5x+5y+6ed+6or+4icted+7ion+as+5n+6c+7e+8d+7ing+4olution+3way32ok=4ed+4ie>6s+5n
g+3l>4ed+5r+4ing+3per;6ate+8ion;9ve+3rd.5in+7ate-ad+as.9ing+aon+9or;2p>3e+4nhagen33ied+5s+4ng+3per;3s+3y>4ing+4right>2
r_3al;3d<3e>4s+4y33inth37ians33k33n<4ell35r;6s+4wall33on;5a36ry+6virus+3p;4o+5r;6ate;8ion;bs+4s;5e+4us;3re+5ct>7ed+7io
n;as+7ly+7ness+5l+6ated+8ion+bs+5spond;aence+ct+aing+as+4id+6or+8s+4o+5bor+5sion+4upt+7ed+7ion+3s;3t;4ex+3y32s>3a+4s+3
ine+3m+4etic+4ic+3t>4a34ly+4o+4s+4ume+7s+3ì+2t<3t#4age;4on;2u>3ch+3gh+3l34d>5n+4eur+3n;4cil;7s+4sel;7ing+4t~5ed+6r>7pa
rt+bs+7s+5ies+6ng+5less+5ries=6y>7side+5s+5y;3p+4le+6d+6s+5ing+4on+3r;4age+4s+5e>6s=4t<5e+6sy+5ney35s;5yard+3s;4in+6s+
3t<2v<3ariance+3e34nant34r>5age+5ed,5ing+5s+5t+5y#3idW2w;3boys33ork+3s+2x32y31p|2pD2uP2y#1r~2a;3ck+5ed+5ing+5s+3ft<5ed
+5s+3ig33n;4e;4k+3sh;5ed+6s+5ing+3te+5r+3w;4ford34l+5ing+3zy;2cC2e~3am<4r+4se#5ing#4t;5e~6d>6s;5ing>6on>6ve;7ity+5or>7
s+5ure+8s+3d,4ential+as.4ibility+6le+5t>6ed,6s+3ed34k;4n#5s#6hot#4p+3f+3ment(3s;4t+3t#4e#4s#3w<4s+2i+3ar+3be#5d#4ing#3
cket;3ed+4s+3me;5a35s+4inal;8s+4son33pt#5ion#8s#6ve#5or#5s#3s+4es+4is;4p+4t;3t>4eria=7on+4ic+6al>8ly+6ised+8m+9s+7zed+
6s;5que+2mC2o<3atia33n;3p+4s+3s34by34s>5ed+6s+5ing;5origin+6ver+3w<4d+5ed+5s+4n;5ed+2u;3c+4ial+3de+3el+5ty+3ise;3s;4h+
5ed+5ing+4t+3z32y;3ing+3pt;5o;3st+5al;7l+7s+2é+3d+3er+1s~2i&2rf#2sP2tC2vL1t|2ic#3on(5s#2l#2or#2rl62x,2ype#1u~2al+4quie
r+3ndo+3tro+2b;3a34n33e=4s+3ic+3s32c+2e,3nta+3r+4po+3s+2ff+2i+3d+3sine+2l<3ar#3o#4s#3t;4iv+6ate+9d+8ion+4ura+7l;8ly+6e
=7s+3us#2m<3pl+3ulative+2nningham32p<3s+2r_3ated+3b+3e;4d+3iosity+5us+3l,4y+3r,4encies+7y>6t>7ly>7s+4iculum+4y33s+4e+5
d+4o,5r.3t34ain+7s+4is33ve;5d+5s+2s#3h+4ion+3t+4ody+5m>6ary+6er>8s=6ize+9d+6s+2t>3e+3off+3s,3ter+4ing+1vP1wC1xP1y~2an+
2ber;2cl;4e>5s,4ic+5ng;2l+3inder+8s+6rical+2n+3thia32prus32r33us32st+2t+1z,2as,2ech32y,2ę+1á+2c+1é,1ó+2digo+2mo+1ông+2
t+1ă+0d>1a~2ar+2bei+2cC2d<3dy33o+4s+2für+2g<3ger+2h;2i+3ly=3ry+3sy32k33ota32l_3am+3e43l+4a+5s33ton32m>3age=6d+6s+5ing+
4scus33e33it+3n+4ed+3on33p+2n>3a33ce;5r+6s+5s+4ing;3g+4er<6ous+6s+3i34el56le36s34sh33k33n;4y33s=3te32oB2pat+2r>3auf+3e
;4d+3i+4ng+3k>4er+4ness;3ren33t;3win32s>3h=4board>4ed+3s+2t_3a~4base>8s+4frame+4s+5et>7s+3e~4d,4n34r#4s>4time,3i+4ng<3
o+4s+3um,2ughter<8s+2v;3e53id55son34es34s33on+2w33n;3son32y~3light+3s>3time+4on32zu+1b~2c#2o#1cP1dP2d#2rC1e~2a#3d>4lin
e+5y+3f+3l<4er+6s+4ing+4s+4t+3n33r=3th=5s+2b<3ate+6d+6s+3bie33e+4n+4r+3it+3orah33ris+3t+4s+3ug~5ging+4t+5ed+2c_3ade+6s
+4y+3e+4ased+4mber54nt+6ral+4ption+3id+5e+6d+6s+5ing+4mal>4pher+4r+4s+5ion=8s+6ve+3k<4s+3l>4ar+6ation=bs+6e,7d+7s+6ing
+4ine+7d+7s+6ing+3ode,6d+6r-5ing+4m+5position+4r-5ated+7ion-as+8ve+3re+5ase+8d+8s+7ing+5e+4ypt+2d<3ic+5ated+7ion+3ucti
on+2e33d+4s+3med+3n#3p>4er+5st+4ly+3r;2f~3ault_7s-3e+4at+6ed+6ing+6s+4ct+6ive+6s+4nce;5d+6ant+9s+6ed+7r+8s+6ing+5se;7s
+6ive+4r+5red+3iciencies+9y+6t+7s+4n+5e>6d,6s+5ing+6t+7e+8ly+7ion>as-8ve+3orm+2g>3li+3radation+4ee>6s+2i+3ty+3x+2j+2k4
2l_3aware34y>5ed+5s+3e+4g+5ate-8s+7ion+4t+5e~6d-5ing+6on+3hi33iber+7ate+aly+4c+5ate+5ious+4ght+7ed+4m+5iter+4ver+7ed+7
ies+8ng+7s+7y=3l;4a+4e+3ta>2m>3and;6e+7d+6ing+6s+3entia+3ise+3o>4cracy;7t38ic;8s34graphic+bs+4l+5ished+6tion+4n;5str+8
ate+bd+bs+aing+bon+ds+2n_3en+3gan+3ial+4ed+5s+4s33mark33n;4e+4is33omin+7ator+4te+6s+4unced+3s,4e+4ity;3t;4al;4ist+4ro+
3ver33y+4ing+2p=3art=6ed+6ment>as+6ure+3end+6ed+7nce+9ies+9y<8t,6ing;6s+3ict+6ed+6ing+7on+6s+3leted+4oy+6ed+6ing+6ment
;3ois+4rt+4s+5it+7ed+7ion+7s+4t;3r+4ecated+5ss+7ed+7ion;4ivation+6ed+3th>5s+3uis+4ties+5y;2que+2rB3abad#3by33e+4cho+4g
+4k33iv+5ative+as+5e,6d+6s+5ing+3mat+3nier+3s#2s_3arroll+9o+3c_4end+7ant+as+7ed+7ing+6t+4ribe<8d+8s+7ing+6ption_bs+9ve
+8or-as+3de+3e+4rt;5ve+7d+7s+3ign_6ate+9d+8ion+6ed+7r;8s+6ing+6s+4rable+5e+6d+6s+3k+4top=3p+4air+4er+6ate+9ly+4ite=4ué
s+3s<4ert+3t>4abil+5c+4e+4in+6ation>bs+6ed+6o+6y;4roy>7ed+7ing+7s+5uct+8ion+9ve+2t>3ached+4il>6ed;6ing+6s>5ned+4l+3ect
;6ed+6ing+7on=7ve;9s+6or+8s+6s+4ntion+4r+5ior+5min+8ation+8e;9d+9s+8ing+9stic+3ox+3r+4imental+4oit33te+2us33tsch37e;7l
and33x+2v>3ant+4st+6ated+8ing+3e+4lop;7ed+8r>9s+7ing+7ment>bal+bs+7s+3iation+4ce>6s;4l;5s34se+6d+3oid+4n34te+6d+5ion+2
w;2x32z;3e+1fP2sL1gG1h|2abi31i~2a<3betes;6ic+3gn+5ose+8d+7is+7tic;as+4onal+4ram;7s+3l;4ect+4og>6ue+3m+4eter+4ond;7s+3n
a34e33rr+5hea+4y;3s+3z32b+2c.3e;3h+3k33t>4ate+6orship+4ionaries+9y=2d>3n;4t+2e>3d+3go33s=4e;5l;5m+5n+5r+5s+3t;4a+5ry+4
s+2f+3er+5ente+9s+3f>4er+6ence=as+8t>9ial+bte+cion+9ly+6ing+6s+4ic+6ile+6ult+9ies+9y+4use+6ion+4érent+3ic+2g>3est;6ion
+7ve+3ging+3it.5al>7ly+5s-3n+4ity+2jo+2k+2l;3ation+3e+4mma+2m>3ension=9al+9s=3in+5ish+8ed+2n]3ero+3g,4s#3ing+3ner;3osa
ur+2o+3n33s33xide+2p;3l;4om+6a+7cy+7t+8ic+3ped+2rB3e<4cción+5t>6ed;6ing+7on>9al+9s+7ve;9s+6ly+6or=8ies+8s;8y>6s+4kt+3i
g+3name#3t+4y;2s>3abilities+9y+5le,7d.6ing+4dvantage+cs+4g+5ree+8d+8ment+4ppear+9ance+9ed+9ing+9s+6oint+aed+aing+ament
+4ster+8s+6rous+3belief+3c>4ard+7ed+4ern+4harge+9d+4ipl+7es+7inary+9e+as+4lose+8d+7ure+4o+5mfort+5nnect+aed+6tinued+5r
d;5unt-8ed+8s+6raged+7se+5ver;8ed+8ies+9ng+8s+8y=4re+6pancy+6t+7e+7ion+5imin+9ate+bion+4s+4uss+7ed+8s+7ing+8on;as+3e;4
ase;7s;4ñ+3fr+3gu+5ise+8d+5st+3h+4es+3k>4s+3like+3mant+4iss+7al+7ed+3ney33order;8s;3p+4ar+6ity+5tch>8ed+9r$4ens+5rs+7e
d+4l+5aced+8ment+6y>7ed+7ing+7s+4on+6ible+as+5s+6able+7l+6e;7d+6ing+7t+8ion+4ro+6portion+4ut+6e+7d+7s+3reg+6ard+4upt+7
ed+7ion+8ve+3s;4e+5nt+5rtation+4olve+8d+3t>4ance>8s+7ing+6t+4inct+8ion+9ve+8ly+6gu+8ish+bed+6t+4ort+7ed+7ion+4ract+8ed
+8ion+5ess+5ib+7ute+ad+9ing+aon=cs+9or+6ct>8s+5ust+4urb+7ance+7ed+7ing+2t<3ch+2v_3e+4r+5s+6e+6ion+7ty;5t+3id+5e+6d+6nd
+6r+6s+5ing+4ne;5g+4s+5ible+6on>8s+5or+3or+5ce+7d+2x33on32z+1j{2ango;1kH1lP2a+2lC1mP2aC2it31nH2aG2i+2sG1o~2b<2c_3h<3k;
4er<3s>3tor>6al+6s+4r+5ine;4ype&3ument>8ary+9tion;8ed+8ing+8o+8s=2d;3ge35rs32e33n+3s>4n;5t+2g>3s;2iL3ng;3s+3t+2k;2l;3l
;4ar;6s+3or+5e+3phins32m~3ain>6s+3e;4st+6ic;3ic+4n=5ance+7t+6te+8d+7ing+8on+5ic37an36on32n_3ald54te+6d+5ion+8s+3c+3de+
3e>3g43n+4a;4e+5r+4ées+3or+5s+4van33t+2or>4s<4way+2p+3amine+3o+2r;3m+3othy33s+3t;4mund32s]3age+3e+4s+3sier+3t+2t>3s,3t
ed+2u;3b+4le>6d+6s+5ing+4t+5ful+5s+3g34h+4las32v+3e+2w;3n~4load>8ed+8ing+8s-4s+5tairs+6ream+4t+5own;4ward+2yle32zen+5s
+1pP1r~2a<3ft;5ed+5ing+3g>4ged+5ing+4on;6s;3in+5age+5ed+5ing+3ke33m+4a;5tic+8ally+3nk+3stic+7ally+3w>4er+4ing=7s+4n+4s
+2e<3ad+4m=5ed+5ing+5s;3i+3ss;5ed+6s+5ing+3w;2i+3ed+3ft+3ll+5ing+3nk+5ing+5s+3pping+3ve>5n+5r>6s;5s+5way+4ing+2o<3it+3
ne+5s+3p>4down.4out+4ped+5ing+4s+3ught+3ve+3wned+5ing+2ug=4s;3m;4mer+4s+3nk+2y;3er+3ing+1sR2lC2pC2t,1tR2o)2ype+1u~2al;
3s+2b;3ai33bed+3lin32c#3ation#3e#4d#4r#5s#3ible#3k;3t04ion#4or#2d32e>3l+2g+2ino#2ke32l33l+2m;3b+3my+3p,4ed+2n;3can33d3
3k;3n32o+2p<3licate-9d+9s+8ion+2r>3ability+5le+4nt36e+4tion>3ch;3ham33ing=2s+3t;2t+3ch33ies+3y;2x#1vL2dG1w]2arf+2ell+5
ing+2ight31xP1y<2e+2ing+2lan32n+3am;5ic>7ally+7s;4sty;2s;3function+3t+1z,2iał+3e+1är+1å+1é;2but+2c+3or+2f+2jà+2m+2part
+2s+2velopp+1ía+3s+1ó+0e>1aP2ch>2d#2ger+5ly+3le;5s32n#2r@3ch#3ing#3l34ier;6st+4y>3n;4ed+5st+4ing+7s+3s,3th>5qu+7ake+as
+2s+3e+3ier+5st+4ly+4ng+3t=4er36n;3y=2t;3en+3ing+2x#1b|2a#2en+2p#1c~2a#3use#2c+3entric+2d#2e#2h,3o<4ed+5s+3t+2l+3ipse;
2o<3logical+6y;3n;4om;6ic<8al+aly+8s;7es+7st+9s+6y;4óm+3system+9s+2t03ed#3ion#6s#3l#3omy#4r#5s#2uador33rity#2z#1d~2a#3
d,3y#2d#3ie32e#3d#3n43r#4al#3s#2gar33e>4s,2i#3a#3c#3n#4burgh34g#3sh#4on33t~4able+4ed>4ing=5on;7s+4or>6ial;6s+4s+2ly#2m
onton33und32o#3r#2s#2tC2u<3ardo33c<4ate+7d+6ion>9al;6or+8s+2ward36s33in32y#1eP2d#2e&2gC2k&2n<3th#2per#2r+3ste+2s#1fP2a
#2e#3ct+2f<3ect>6ive;9ly+9ness+6s=4t+3ic+5acy+5iency;8t+9ly+3ort+6s+2ined#2ore#2t#3er+1g|2a#3l,3n#2en#3r#2g<3s+2in(2o,
2y+3pt35ian31h<1i,2g+3en;5en+3ht=5een+5h+2l#2n>3e;4m+4n+4r+4s+3f+4ach+3g,3ige+3mal+3s34tein33z+2sen32ther>1j<2ec+3mplo
+1kB2a#2en#3r#2i#3ng#2s#2t#1l~2a,3bor+6ate+3h#3n#4d#3psed+3s#4tic<3y#2bow+2come#2d43en#4r;5ly+5s+4st+2e>3ct>5ed+5ion;8
s;5oral;5r+6ic>8al;8ity+6o;7de+7ly+7magnetic+7n<8ic;aally+as;8s+3d#3g+4ant+3m.4ent>7al+8ry;7o+8s+7s>3n#4a34ium#3phant+
8s+3r#3s+3v;4ate+7d+6ion+6or+4en+2f<3are#2i43a#4n#3c#3er#3f,3g,4ibility+6le+3hood#3jk#5e#3m+4in+6ate+9d+9s+8ing+9on+3n
#4e#5s#4g#3t+4e;3zabeth52k+2lB3a<4r#4s#4tion#3e<4d#4n44r,5s#4s#3i44g#5ence#7t#4ng#4ot36t34pse+5t+4s34te#3o,4s+4w#3s#4c
haft#3t#3ular#3y#2m42n#2o#3n#4g,3r#3w#2s,3e_4if+4n#4where+3ius#3on#2t#3a#2u#3sive+2ve#4s,3is32y#1m~2a#3il>5s+3ker#3le#
3n,4d#3rk#3s#3t#4ic#2b<3argo+5k+6ed+5rass+9ed+9ing+9ment+4ssy;3ed>5ded,6ing+4r#5s#3lem+3od+5ied+6ment+as+3race+7d+6ing
+4e#4o#4y+2e#3d#3n#4t#5e#5o#5s#3r64g+5e+6d+6nce+8ies+8y;6s+5ing+3s#3t#4ery#2i#3a#4h#3c#3es#3ly33n#3rates33ssion+8s+3t,
4s+4ted+6r-2m#3a34nuel33y32o#3n#3ry#3s#3t+4ion+7al+9ly+7s+2p>3ath+6y+3eror;3h+4as+6is+7ze+9d+9s+3ir+5e;5ical+3l#4ate#7
s#4e,4o#5y>6ed+7e>8s>7r+8s+6ing+6ment;6s+3o#4r#5ary#4wer+7ed+7ment+3re#5sa+7s+3t,4ion#4y>2sD2u#3late+2y#2ás#1n~2a#3ble
>6d-6s+5ing+3ct+5ed+3l#3me#3n#3rio#3s#2berg#3urg#2c>3aps+3e(4d#4r#4s#3h,4ant+3i#4a#5l#5s#4es#4l#4ng#3losed+6ure+3ode,6
d,6r.5ing>4mpass+9es+4ntr+7ar+4re+4unter+9ed+9s+5rage+9d+9ment+9s+8ing+3rypt+7ed+7ion+3uent+7ra+3y#4clopedia32d~3a#4nc
e#5gered+5t#4r#4s#3e<4avor+4d,4n#5t#4r#5s#4z#3foreach#3i#4f,4ng,6s+3l,4ess+3ment#3o#4r#5s+6ed+7ment+3point-8s+3ra#4egi
on#3s,3um#4rance+5e+6d+5ing+2e#3d#3g#3mies+4y;3n#3r(4al#5te#7d#6ion#6or#4g;5etic+5ies+5y>4s#3s#4s#3t#3z#2f+3ants+3er+3
orce+7d+7ment+2g~3a#4ge+6d+6ment;as+6s+5ing+4n#3e#4r#5s#3ine>6er;8ed+8ing;8s;6s+3l#4and54ish>3o#3th#2h;3ance+7d;7ment+
7s+6ing+2i#3a#3c#3e#3m+3ng#3s#2jo+4y;5able+5ed+5ing+5ment+5s+2k#3o#2larged+7ment+3ight+4sted+2n,3a#3e#4n#4s#3ial#4s#2o
#3rm+5e+5ous+3s#3ugh;2qu+2rich+6ed+6ment+3ol+5l+6ed+6ment+2s@3a#4tion#3ch#5aft#3e04d#4mble,4n#4r#4s#3i#4ng#4on(6s#4tiv
e#7ity#5y#4ve#3o#4n#4r#5s#3tein#3uing+5te+4re<6d+6s+5ing+4s#2t~3a#4ils+4l#3e#4d#4nd+4rB5ed+5ing+5prise;as;5s+5tain+9in
g+9ment;4s#3h,4al#4usi+7asm+9tic+3i#4al#6ly#6s#4es#5th#4n#4on#4re+6ly+6ty+4ties.5led+5yB3lich#4y#3o#4n#5ces+3rada+5l#5
nce+4e>5prene+aur+cial+cs+4ic#5es.4opy+4y>3s(3y#2u#3m>4er+6able$7te+8ion+8or$2v.3elop+7e+3i+4ron+7ment>bal;dly+bs+4sio
n+8ed+3oy+3y+2y#2z#3a#3ie#3ym+5e,6s+1o(2fG1p~2aC3d#2end#3r#2h32ic;3d;4emi+7c+3le+5psy+3ng#3s+4ode=7s+3t+2och,5s+2sP3il
on,1q~2u>3al>5ity;5ly+5s.4tion+8s+3ilibrium+4p+5ment=5o+5ped+4ty;4v,5al+7ent+1r~2a|3d+3l#3s#4e+5d+3ção#2b#2c#3a#3e#3is
e#2d43ings#2e03a#3ct+5ed+5ion+3d#3e#3g#3k#3n#3s#3z#2f+3ol+2g<3arten#3e#3ic#3y#2h+3alten+2i#3a#4l#5ize#3c63e44s#3k33n34
g#3or#2k#2m,3al#4n#3o#2n(3a#3e#4l#4n#4r#4ss#5t33o#3st32o(3n#3s,4ion+3tic+2pC2r~3e,3o+4ne+6ous+4r~5s>2s03et#3ion(4stenc
e#3on#3t+4e+5n+2t(3a#4s#4tion#3e#4n#3i#3o#4n#4s#3s#3y#2u+3pt+5ed+3s#2v#3a#4tion#6ve#3e#4d#4r(4s#3ice(6s#4lle#4ng#3let#
2w+2y(1s~2a,3n#3r#2c_3al+4pe<6d+6s+5ing+3h#3o&4l+4rt+6ed+3ription#5t+2e,3n#2h#2i#3an#3s#3ty#3um#2k<2lint+2o,3me#3n#3r#
2p~3a+4cio+4ñ+5a35ol+3ec+5ial+8ly<4r<3nC3os+2sB3a,4ge(6s#4y;5s;3e,4d#4l#4n#5ce+5tial<9ly;4r#5e+4s#4x33ion#6al#6s#3ment
#3o#4n#4r#2t~3a>4ba+5le+6ish+9ed+as+9ing+9ment+ds+4d+5o=6s34mos+4r+4s+4te;4va+3e>4ad#4d#4r#5day#5s#3i#4c#4lo+4m+5ate,8
d,8s+7ing+8on+7or+4nal#6tion#4on#3o,4nia34s+3r,4e#4o#5gen+5y#4uct,3s#3ud+3y#4le#3á+4n+3ão+2us#2y#2z#1t~2a03data#3il#5s
#3l#3ry#3s#2c,3h#2e#3ct#3d#3n#3r(4mined#4nal+5ity+4s#2hB3an35ol+3e#4less#4r<5net34us#3ical+5s;4ng#4opia33n+4ic+6ity+3o
d(3yl#2i#3c#4s#3me#3ng#2o#3n#2ric#5s#3y#2s#2t,3a#3e#4r,4s#3i#4ng#3o#3ä+2ur#3s#2wa+4s+3een#2y#2z#3t#1u~2g33ene32rD3o;4p
;5a35e=6an58s34s+3s#1v~2a43cuated+7ion+3l,4u;5ate+8d+8s+7ing+8on;as+3n34gel;4s33por+2e;3n>4ing;7s+4ly+4t_5o+6s+5s>5ual
+8ly;3r>4ett34ton34y>5body=5day+5one=5thing>5where+2idence;8d+6t+7ly+3l;3tar+2olution;9ary+4ve+6d+5ing+1w02ay#2ise#4h#
2orthy#1x~2acerb+4t;5ly+3gger+7ated+3m=4ination;bs+6e+7d+7s+6ing+4ple>7s>4s+2c>3av+3eed+6ed+6ing+6s+4l=5l+6ence;8t;4pt
>6ion>9al+bly+9s-4rpt+4ss+6ive+3hange>8d+8s+7ing+3it+5ed+6ment+5ing+3lude+7d+7s+6ing+5s+6ion+7ve+9ly+3use+6s+2ec>4ut+6
able+6e>7d+7s+6ing+7on=9s+7ve;9s+6or-3mpl+6ary+6e+5t+6ion+3rc+5ise=8d+8s+7ing+4t+2h+3aust+7ed+7ion+8ve+3ib;5it+7ed+7io
n;as+7s+2ig+3le+3st>5e+6d+6nce+7tial+5ing>5sN3t>4ed+4ing+4s+2otic+2p>3and.6ed;6ing+6s+5s+6ion;9s+3ect_6ancy+7tion+bs+6
ed>6ing+6s+4d;5ition+4lled+4nd+6iture+bs+5se+7s+6ive+4r+5i+6ence=ad+as+9ia+ang+6ment=aal;btion+aing+as+5t;6ise+6s+3ira
tion+5e+6d+6s+5y+3l>4ain+7ed+7ing+7s+5n+6ation+bs+4ic+6it+8ly+4o+5de+7d+5it+7ation+7ed+7ing+7s+5r+6ation;6e+7d+7r;7s+6
ing+5s+6ion+9s+7ve+9s+3o34nent+8ial+bly+4rt>6ed+6ing+6s,4s+5e+6d+6s+5ing+5ure;8s+3r.4es+6s>7ed+8s+7ing+8on>as+8ve+7ly+
2quisite+2tB3end+6ed=6ing+6s,5sion>9s-7ve+9ly+5t+4r+5ior+5n,6al>8ly+3inct+7ion+3r+4a>5ct;7ed+7ing+8on+7s+5ordin+aary+5
s+5vag+4em+6e;7ly+7s+1y<2e>3b+4rows+3l+3r#3s;1z<0f>1a~2b>3ric;6ated+8ion+6s+3ulous+2c>3ade+3eB4book>4d+4s<4t+5s+3h33ia
l+4l+5e+5it+7ate+ad+as+9ing+7ies+7y;4ng+3t>4ion+7s+4o+5r>6ial+7es+6s;6y>4s+4ual+3ult+6y;2de+4d+3ing+2hr32il>4ed>4ing+4
s+4ure>7s+3nt+3r>4e+4ly+4ness+4y33s+3t,4h;5ful+2ke<3t+2l;3con36s33k33l>4en+4ing+4s<3s+4e_3ta+2m;3e;3il;5ia+7r+8ity+6es
;5le+5y>4ne+3ous;6ly+2n>3cy+3g43s;3t>4as+6tic+6y;2qC2r>3e<4well+3m;4er;6s;4ing+4s+3r33ther+2s,3c+4inated+8ing+9on+3e+3
hion;7able+3t>4er+5st+4ing+2t_3al+5ities+3e;3her>6s+3igue+3s+3to+4y+2ult;5s+5y+3t+3x+2v+3or+5able+5ed+5ite=8s+5s+4ur+6
ite+2x,2z+3er+2çon+1bP2iC1cP2cC1dP2aC1e~2ar;4ed+4ful+4s+3s+4ibility+6le+4t+3t+4her;7s+4ure>7d+7s>6ing+2b53ruary52cha-3
t#4ion#2d<3er;5al=6tion32e>3d>4back>4er+4ing,4s+3l=4ing;7s+4s+3s+3t+2it#2l<3d43ix33l;4ow;6ship;3t,2m;3ale>6s+3in;5ine+
6sm+7t+3me+5s+2n<3ce+3g32r<3ence#7s#3guson33ment+7ation+3n44ando33r34ari34ed#4y;3s#3t+4il+6e+6ity+7zer+3v+2st<4ival;8s
+2t+3al+3ch>5ed+5ing+3us+2ud+2ver+2w;3er+1fP2e#3ct#3e#3n#3r#2f(3f(4ff(2ic#3eld#3ti#1gH1h#1i~2an+2b<3er+5s+3re+2c,3h+3t
ion;7al+2d+2eld_5s>3r+4c+5e+4y+2f;3aC3teen+4h;4y;2g~3ht;5er;7s+5ing;5s+3ur+5e>6d+6s;5ing+2l>3e~4d+4name.4s>3ing+4p35in
o33l>4e+5d,5r+4ing+4s+3m>4ed+4ing+4maker+4s<3t+4er>6ed+6ing+6s-4r+5ation+2m+2n~3al>5e+5ly>5s;4nc+6e;7d+7s+6ial=9ly+7ng
+3d>4en+5r%5t+4ing=7s+4s+3e>4d+4ly+4r+4s+5t+3g+4er;6print+6s+6t+7ips+3ish=6ed.7s+6ing+4te,3land33n34ish34s+3o+3s+2r+3e
>4arms+4base34d+4fox34place+4s+4wall+3ing+3m;4ly+4s+4ware+3st_5ly32s+3cal;4her33h>4er36men+4ing+3t+2t>3ness;3s+3ted+4i
ng+3z34gerald32ve>2x>3ed>4s+3ing+3ture-7s+2z+1j+1k(1l~2ag>4s>5hip+3me;5s+4m#5atory#3nk+3p+3re,3sh>5ed+6s+5ing+4k;3t>4s
+4ten+7ed+3v+4or+6s+5ur+3w+4ed+4s+2e;3d+3e+4ing+4t;3sh+3tcher33w+3x>4ibility+6le+2ick+3es,3ght>6s+3nt33p=4ped+3rt+3x#2
o+3at>5ed+5ing;5s+3ck+3od;5ed+5ing+5s+4r>5s+3r;4al+4ence35s34ida33ur+3w>4er<6s;4ing+4n+4s,3yd32u<3ctuations+3ence#5t+3
id<5s+3or+5es+7cent+3sh,5ed+3tter,3x+2y>3ing;3nn31mP2t,1nR1o|2am+2c+3al+3us>5ed+6s+5ing+2d+2g;2i+3l+3s+2l<3d,4ed+5r>6s
+4ing+4s+3io#3k<4s+3low>6ed+7r+8s+6ing>6s+2n<3ction+3d+3o#3t>4s,3y#2o>3d>4s;3l+4ish+3t>4age+4ball;4er>4print+4steps+2p
en+2r~3all#4m+3b+4es34idden+3c+4e>5d,5ment#5s;4ibly+5ng+3d>3e>4ach,4cast+8ing+8s+4front+4ground+4head+4ign>7ers+4most+
4nsic+4s+5t>6s+4ver;3g+4e,5d+5t;6ting+4ive+7ness+4ot+6ten+3k<3mB4a,5l+6ly+5nce#5t>6ion@9s+6o+6s+6ted+8r$7ing+4e,5d,5r>
6ly,4idable+5ng,4s>4ula=7s+7ted+8ion+3n+3s;3t>4e+4h,5coming+4ress+4s+4unate+9ly46e;7s+4y+3um>5s+3ward>7ed+7ing+7s+2s+3
s+4il+3t+4er;2t;3o;4graf+2u+3ght+3l+3nd>5ation=as+5ed+6r+7s+5ing+5land#4tain+3r>4teen+5h;2wler32x>1pP2rintf+2s+1r~2a>3
c,4t+5ion=8al+8s+5ure+8s+3g;4e35n34ile+4ment=8s+3m+4e>5d+5s,5work>9s+4ing+3n=4c;5e56s35h+6ise+5is37co35o34k=5furt35lin
36y+4z34çais+3ser33u34d+4en32e>3d64die34er36ick33e_4d+5om;4l+5y+4man34ze+5ing+3ight+3m;3n+4ch54te+3q+4u+5encies+8y>7t+
8ly+3s;4h=5ly+5man+3ud34nd33y#2i;3ca#4tion+3d34ay54ge+3ed;5man34nd>6ly;6s>7hip+3ght+6ened+8ing+3nge+2o;3g+3m~3n+4t>5al
+5ier;5s+3st;3wned+3zen+2uit<5s+3strated+8ing+9on+2y;2ån+1sR1tP2e#3n#3r#2ime#2pD2y#1u>2ck+2e+3l=4s+3r+4a+4on+2g+2j32k3
2l<3fil+6l+7ed+7ing+7ment+3l>4er34y,3ness#2n>3c>4ion+5ón+4t+5ion_8al<aity+8ing+8s>3d>4ament+9al+bly+4ed+4ing;4raising+
4s+3eral+3g,4us+3k;4c+4tion33nel+4y+3ção+2r;3ious+3n;4ace+4ish+7ed+5ture+3t#4her=7more=3y;2s+3e+4d+3ion<3s+2t;3ure>6s+
5o+2zzy+1wH1xP1yL1ácil+1å+1é+1ís+1ö+2r+1ø+2r+3ste+1ühr#2r;0g>1a|2an+3t+2b=3e#3ri35el32d;3o#2e#2g+3e#2in<4ed+4ing+4s+2l
>3axies+5y;3e33l;4agher34eries+6y=4ons+2m;3b;4ling+3e>4play+4s>3ing;3ma>2n<3d34hi33g<4s+3z+2p<3s+2r>3age;4nt+3bage+3c3
4ia33d<4en;6s;4ner33lic+3ment+7s+3n;4er+6ed+3rett33s#3t#3y62s>3es+3oline+3t34ro+2t33e>4s;4way=3her+6ed+6ing+9s+2uge+3s
sian32ve+3in32y;2z;3a33e+4tte31bH2t&1cO2cC1dH2pC2y+1e~2ar;4s+2b<3en,3ra#4u+2d<2e+3n+2f;2gen+2h+3en+3t+2k+2l<3d;2m<3ach
t+3e<4ins+4nt#3s+2n>3au+3ce#4y#3d#4e#5r>3e>4r_5al>7ized+7ly=7s+6te>8d=8s+7ing+8on=as+7or=9s+5ic>5ous+4s,5is;4tic;7ally
+7s+4va33ital+4us+3ocide+4me+3re>5s+3s,3t<4e+4le;6man+7en+5y+3uine+7ly+4s+2o>3ff33graphic;aal+8y+3is#3m,4et+6ric+7y>3r
g35e56town35ia52rB3ade+4ld43e+3ies#3m34an=6s36y53s#2s<3ch<5ichte33t<4ion+4ure-7s+2t~3s<3t#4er$4ing=4o#2w<2z+1fG2pC1gP1
h|2an#4a32i#2ost=5s+2t#1i~2a#3n34t;5s32b;3son33t+2e#2ft;4ed+4s+2g;2l33bert33l34es33t+2n<3a33g,4er;2o#3v;4anni32r;3l>4f
riend+4s;2s(2t>3hub<2ul32ve>4n>4s+3ing+2à+1j+1l~2ad;3m+3nce+6d+4d+3s44gow34s<5es+2e<3ich+3n34n32i,3mpse+3tter+2m+2o+3b
<4al>6ly+4e;3mer#3r+4ia35ous+4y;3ss+3ve+5s+3w+4ing+2u+3c+4ose+3e+3t+4en+2y<3c+3ph+1mP2ent#2tG1n(2uC1o~2al>4keeper+4s;3
t+4s+2d>3dess+3s;2ed+3s;2ing>2l;3d>4berg34en=4man33f;2m#3ery#4z32n,3e;3na+3z34alez32od>4bye+4man34ness+4s<3gle>2r<3don
33e33geous+3ithm#7s#2s43pel;3sip+2t>3h34ic33o,3t34a+4en+2v<3er+5n=6ance+6ed+6ing+6ment;aal+as+6or;8s+2w#3n+1pP2ioC2sC2
uC1r~2a<3b;4bed+5ing+4s+3ce;5ful+4ias+3d<4e>5s,4ient;8s+5ng+4o+4u+5al+7ly+6te<8d+8s+7ing+8on+3f<4t+3ham33in+5s+3m@4mar
;5y34s,3n<4d>5children+5e;6s+5father+5mother+5parents+5son+4ite+4t>5ed+5ing+5s+3pe+5s+4h>5ene+5ic;7al+7s=5s+3s+4p+4s<3
t+4eful+4itude+4uit+3v+4e,5l+5s+4itational+6y;3y>2e_3at>5er>6st;5ly+3e44ce34d+5y+4k35s34n>5e35house+5land35s34t+5ed+5i
ng+3g64ory33n<3p+3s#4s#5ion#6ve#3w+3y<2i;3d>4s+3ef+3ff35in36th33ll+3m;3n+4d+5ing+3p+3t+2o>3cery+3om+4ve+3s;4s;3te+3und
B6ed+6s+6water+4p~5e+6d+5ing+5s>3ve33w+4ing+4n+4s+4th<3ß+4e+5n+2und43p+4o;5s+2âce+2öß+1sH2mC2tC1tP2e#1u>2ang33r;4ante+
8e+9d+9s+4d>5ed+5ian;8s+5s;3temala32e#3rr+3ss.5ed+5ing+4t>5s+2iJ3d>4ance+4e>5d+5line+9s;5s+4ing+3ld;4l34t+5y+3nea33tar
;6ist+6s+2jar35at32l33f32m;2n<3akan#3n33s;3ta#2pta32r33u;2st;2t;3e+3ter+2y;3s+1v&1wO1y<2m;2pt#1z#1år+1é+2n+1ö+2r+1ł+0h
>1a~2ar+2b<3e+4n+4r+3i#4t+5at+7s+5s+3ía+2c+3e+4r+3ia+3k;2d>3de+3n+2g32i<3r<4s+3t34i32k32l_3b#3e34y33f>4way+3ifax33l>4o
ween34s+4uc+4way+3o+3t,4ed+5n#3ves+2m>3as33burg33ilton33m34er<4ond33pshire34ton32n>3d>4book34ed+4ful+4held+4ic+6ap+5ng
+4le>6d+6r>7s+6s+5ing;4s;5ome+4y+3g<4ing+4s+3k33n34ah34o+3s34en34on33ya+2pp;4en+6ed+6ing+6s+4ier+5ly+5ness+4y=3s#2r>3a
ss+6ment+3bor;5ur;3d>4ened+5r+5st+4ly+4ness+4t#4ware;4y33ga+3i,3ley33m+4ful+4less+4on;6y;3ness+3old33per33ris36on34y53
sh+3t<4ford33us+3vard34est;7ed+7ing+5y32s>3h>3il,3kell33n+3s;4an33t;4a+4ings32t>3ch+3e+4d+3h+3red+3s+3tan#4e+2ul,3nted
+3s44en#4t#3t+2v;3e_4n<3ing>2w33ai35i36an33k34ins34s32y>3den33es32z;3ard;6ous+6s+1bG2oC1cG1dH1e~2a#3d~4ache+8s+4ed,5r>
6s.4ing>4line+8s+4quarters;4s,3l+4ed+4ing+4th>6care;6ier+6y<3p.3r;4d+4ing+7s+4s+4t>5beat+5s;3t>4ed+5r+4h35er34ing+3v+4
en;6ly+6s+4ier+5ly+4y;2b+3ben+3rew32cho+3k43t+2d<3ge+2e#3d#3ft+3l,4s+3t#4s#2i#3d#3ght>6ened+6s;3m#4er#3n33r+4o#3t#2l>3
d,3e+4n35a33icopter+as+3l<4o>3m<4et+3p>4ed+5r>6s.4ful+4ing+4less+4s+3sinki32m<3isphere+3orrh+4s+2n>3ce;3d34erson33ri34
y52p33at+5itis+2r_3ald33b;4al+4ert34s+3d+3e_4by+4in+4nce#5t#3itage;3m34an33n34andez33o>4es;4ic+5n+3pes+3r33s;4elf+3z32
s,3itate+7ion+2t>3er+5osexual+3ic#5s#3to#2ure,5s+4istic+3te+2w32x>2y>1fG1gC1hH1i~2b#3ition#2c+3k34s32d,3den>3e>4s+3ing
+2er=4archical+8y+2ft#2gh_4er;5st+4land35ight.9ed+9ing+9s+5y+4way;7s+2j;2king+2l<3l<4ary34s;3ton32m<3al33self+2n<3d<4e
r+4i;4u33ge+3t=4er+4s+2p<3p;3s,2r#3e,4d+3ing+3o32s>3pan36ic33t>4ogram+5r>6ia+8n+9s+7c;8al;aly+7es+6y>4ó+2t>3ch33ler33s
;3ting+2vC1j+1kG1lP2en#1mP2a#1n#1o~2b;3by+2c+3h;3key;2d32e,2f43f34man32g;3an33y+2je+2l>3d>4er>6s,4ing<7s;4s,3e<4s+3ida
y;7s+4stic+3l34and34ow;4y35wood33m#4es33ocaust34g+3t33y=2m>3age+3bre+6s+3eB4land+5ess+4m+4page+4r34s;4town+4work+3me+5
s+3o+4sexual+aity+2n=3d34a34uras33est+6ly+6y+4y;3g33or;5ed+5s+4ur+2od<3k>4ed+4s,3ver32p;3e=4d+4ful+7ly;4less+4s+3ing+3
kins32r>3a+4s+3izon;7tal>aly+3m+4onal+6e+7s+3n<4s+3r+4ible+4or;3s+4e<5s+2s<3e+3p;4ital<8ity+9zed+8s+3t>4ed+4ile+6ity+5
ng+4s+2t>3el=5s;3s#2u43r>4ly+4s>3s+4e>5d+5hold+9s+5s<4ing;4ton32ver,5ing+2w>3ard33ever=2y+1pP2vC1qC1rP2a#2ef,2s+1sP1tP
2a#2e#2ml~2on#2tp~4sL1u<2ang32b>2d+3son32e;2ff32g+3e+3h34es33o32h+2is+2ll;2m>3an>5itarian+7y+5s;3ble+3id+5ity+4liation
+3or+5ous+4ur+3ph32n;3dred+7s+3g;4arian36y34er;4ry+3t;4er;6s+4ing;7ton32r;3ricane;5ed+4y+3st#3t+4ing+4s+2s<3band+7s+3s
ein33t+2t;3ch31vO2or+1wD1y>2brid;2de34rabad33raulic+4o<5gen+2giene+2m+2p;3er>5t+6ension+3not+3oc+4theses+8is+7tical+2s
ter+2undai31z51á+1ä+2r+1ö;0i>1aP2c#2d#2e#2gnostics#2h#2is#2l(3e#4s#3is#3ly#3og#3s#2m#3eter#3i#3o#2n43a#3ce#5s#3e#3i#3o
#3s#3t#2o#2p#2r#2s(2t#3e#4d#3ion#4ve#3ric#2z#2ção#2ł#1b|2a#3l#3n#2e#3l#3n#3r#4nate#2i#3a#3d33l#4e#4idad#5ties#6y#2le(4
s#3i#4ng#3y#2mG2n32o#2r#3ahim34ry#4tion#2t#2u#3s#1cP2a#3go#3l(4ly#4s#3mente#3n#4s#3s#3te#5d#4ion(4or#2cD2e~3d#3land33p
s#3r#3s(4ter#2h>3a#4el#3e#4n#4r#4ver#3i#3o#3t#4e#5n#4ig#2i,3a#4l#4n#5s#4ry#4s#3de#5s#3e#3ne#4g#3o#4n#5al#5es#5s#4s#4us
#3p#3sm#3t#4y#3ón#2k(3ed#4n#4r#5s#4t#5s#3ing#3le#3ness#3s#3y#2le#4s#2o#3de#3l#4or#3m#3n>4ic+4s,3rn#3s#2ro#4soft#2s(2tD
3ion#6ary#6s#3ure#6s#2ular#3s#3t#2y,3cle#2z#1d~2a#3ble#3d#4e,5s#3ho33l#3n#3s#3y#2d#3en#3ing#3le#2e~3a<4l<5ly;5s+4s;3d#
3l#4ity#3n#4ce#4t>5al#5ial#6cal+6fiable+8cation;8ed,9r>as+9s+7y+8ing+6ties+7y>5s#3o#4logical+7y+4s#3r#4s#3s#2ge#4t#2i,
3an#3ng#3ot+3ty#2l#3e+2o#3l+3r#3s#2s22th(2ual#2x.2y#1eP2ber#2c#3e#2d#3ad#5es#3er#2eeC2f#2g#3el#3o#2i#2j#2k#2l#3d(4s#3e
#2m#3bre#2n#3ce#5s#3da#4o#3e#4n#3ia#4e#3ne#3t(4e#5s#4o#5s#4ras#4s#3za#2r#3a#3e#4n#4s#3i#3o#4n#3re#3s#3t#4e#5n#3ung#3z#
2s(3t#3z#2t#3e#4n#3ies#2u#3r#4s#3x#2v#3al#3e#4s#2w#2z#1f~2a(3ct#3x#2e(3n#3r#3st#3time#2f,3e#4r#5ence#7t#3s#2i(3able#3c
#4a#5ción#5do#7r#5nt#5r#5te#7s#6ion(9s#4e#4ial#3e#4d#4r#5s#4s#3k#4asi#3que#2o#3rm#4n#5ia#2rame#2s#2t(3er#3h#3ing#3y#2u
l#2y(3ing#1g|2a#3n#3r#3te#4ion#4or#2e#3n#4ous#3r#4s#3s#2g#3er#3ins#2h(3bor#6s#3t(4h#5ouse#4ing#4s#2i#3n#4al#3on#4us#3t
#4al#4s#2keit#2li#2ma#2nB3al#4nt#3e#4d#4r#3ition+3ment#3on#4r+5ance+7t+5e.6d+6s+5ing+3ty#2o#3n#3r#3s#2raph#4tion#8s#2s
#2t#2u#3al+3e#3ng#3ous#3re#1h<2ad#3n#3r#2m+2n+3en;2r;3e;4m+4n+4r+1iP2iP1j,2a#2d#2e#2i#3ng#2k#2n#2o#2u#1k~2a#3n#2e#3d#3
l#3n#3r#3s#2h#2i#3ng#3pedia#3t#2k#3e+2o#3n#2s#2t#2u#1l~2a#3nd#3r#3teral#4ion#2d(3a#3e#4r#2e03d#3n#4ame#3r#3s#3t#3y#2i,
3a#4n#4ry#4ted#5ion#3b#4rium#3g#4ht#3h#3ne#4g#3o#4n#3t#4ies#4y#2k#2lB3a#4c#4ge#4nce#4rd#5y#4s#4tion#3e#4d#4g+5al;7ly+4
r#5y#4s#4t#3i#4cit+4n#5g#5ois34on#3ness+7es+3o#4n#4s#3s#3umin+7ate5ad+9ion+4sion+5trate+ad;as+9ion+cs+3y#2m#2o#3n#3r#3
t#2s,3t#2t#3er#5s#3y#2ver#2y#3n#1m~2a#3g+4eB5m+5n+5ry+5s>4in+6ary+7tion+6e=7d+6g;6ing+3l#3n#3s#3t#4e#5d#4ion#2b,3abwe#
4lance+2dC2e(3dia#3n#4s#5ion#8al#4t#5o#6s#5s#3r#3s#4tamp#3ter#2fC2g22i#3ento#7s#3n#4ary#3r#3t#3ze#2m>3edi+6ate+9ly;4l#
4nse+4r,5sed+6ion+3igrant+9s+7tion;4nent+5g#3obil+4rtal+3un;5e,5ity+4table+2o#3n#3re#3s#2p~3act=6ed+6ing+6s+4ir+6ed+6m
ent+4rt+4tient+3e+4d+4nding+4r;5ative+5fect+5ial;3l.4ant+7s+4e#5ment;9ation>es+9ed-9ing+9s+4icated+8ion+bs+6it+8ly+5ed
+6s+4y+5ing+3ort>6ance+8t<9e+as+9ly+6ed+6ing+6s+4se+6d+5ing+5sible+3r+4ess+7ed+7ion+as+8ve+4int+5son+8ed+8ment+4o;5per
+5ve+7d;7ment;bs+7s+6ing+3s#3ulse+2s#2u#3lation#3m#3s#3th#1n~2a#3bility+3ccurate+4tive+3dequate+4vert+8ently+3ire#3l#3
n#4d#3ppropriate+3r#4y#3s#3te#5d#4ion#7s#4or#3ug+5ural+8tion+2burgh#2c_3ap+5able+4rcer+3e#4nt+6ive+9s+4ption+3h,4es+3i
#4d+5ence+7t;8s+4nn#6ati#3l+4ination+6ed+4ud+6e>7d;7s<6ing,5s+6ion+7ve+6o+3om+5e=6s+5ing+5patible+6et+6lete+4n+5s+6ist
ent+4r+5por+8ate+bd+bs+aing+5rect+9ly+3re;5ase;8d;8s+7ing;aly+5d+6ible+9y+5ment+9al+9s+3t(4ion#7s#3ub+4mbent+4r+5red+2
d~3a#3e,4d#4ed=4f+5initely+4m+4n#5t+4pend;8ence;at=bly+4r#5s#4x_5ed+6s+5ing+3i#4a=5n56a37polis36s34c+5a+6te+8d+8s+7ing
+8on+as+8ve+7or-9s+5es+5t+4e+4genous;4ng#4rect+8ly+4spens+9able+4v+5id+7ual>aly+as;3o44nes37ia39n34or;6s+4w#5s#3re#4om
e#3s#4ay#3u+4ce+6d+5tion+4l+4st;6ri+8al;8es;7y;3y42e03a#3craft#3d#3ffective+5icient+3ly#3m#4ent#3n#4t#3quality+3r#4tia
+4y#3s#4e#4s#3t#3v+4itable+9y+3x+4pensive+3z#2f_3amous+4nt+6ry;6s+3ect+6ed+6ion+9s+8us+4r;5ence+5ior+5red+3iltr+4nite;
8ly+7y;3l+4amm+7ation+9ory+5ted+7r$6ion+4icted+4u+5ence;9d+9s+8ing+7tial+7za+5x+3o~4rm>6ación+7l+7tion>ben3bs+9ve+7çõe
s+6ed+6ing+6s+3ra+5red+5structure;4ing+3used+5ion+2gB3e#4n,4r#3ham#3ing#3le#4y#3o#3redient+as-5s+6s+3s(3t#4on#3u#2h,3a
#4b+5it+7ants+7ed+4l+3er+5ent+8ly+5it,7ance+7doc#7ed+3ib+5it+7ion+7or+9s+3o#2i<3ci+5al+5o+3n#4g#3shed#3t_4e#5ly#4i35al
>7ization+9e>ad+7ly;6te+8d+7ing+8on+8ve;as+5on#4y#2j+3ect=6able36ed+6ion;9s+3ured+5ies+5y;4stice+2k@3a#3er#3i#4ng#3s#2
land+3ine.2mates+2n<3ate+3e+4d#4n#4r>3ing,6s+3oc+5ence+7t+4v;5ation;as+8ve+2o#3is#3s#2p+3ut~5s,2q#3u#4iries+6y;2s_3ane
+3cription+3e+4ct+6s+5ure+7ity+4nsitive+4r+5t~6ed+6ing+7on+6s+4t+5s$3i#4c#4de>4ght+7s+5n+6ificant+4st+6ed+7nce+6ing+6s
+3ki#4y#3on#3p34ect+7ed+7ion+as+7or;4ir+6ation+6e+7d+6ing+3t>4ability+5gram35l+6l>7ation;cs+7ed+8r+7ing+5nce>8of+8s+6t
=7ly+4ead>4inct+8s+5t;6ute;9s38ion;bal+bs+4r+5uct+8ed+8ion=bal+bs;8or+as+6ment>aal+btion+as;3ufficient+4la#6ted+7ion+5
in+5t+4rance;5g+2t~3a#4ct+4ke+3e,4g+5er_7s+5r+6al+7te+9d;9s+8ing+9on>6ity+4l35lect+9ual+6ig+8ence;at+4nd+6ed+7nt#6o#6s
+5s+6e+7ly+6ified+7ty+7ve+5t=6ion+9al+bly+9s+4r_5act+8ing+9on=bs+9ve;5cept+9ed+9ion+9or$6hange+6ourse+5es+7s+7t>8ed+8i
ng;bly38s+5f+6ace>9s+6er+8e+9nce+8ing+5im+6or;5medi+9ate;6itt+9ent+5n>6al>8ly+7tional=dly+6et=5personal+6ol+8ation+6re
+8t<9ation+es+9ed+ar+9ing+5rog+8ation+6upt+9ed+9ion+9s+5sect+9ion+cs+6tate35val>8s+6en+8e+8tion;cs+6iew;9ed+9ing+9s+4s
t+6inal,3h#3im+5acy+6te+5id+3o_4ler+7ance+4n#4sh#3r+4a+4icate+5guing+5nsic+4o-5du+7ce+9d+9s+8ing+8tion=9ory+3s#3uition
+7ve+2us#3x#2v>3ade+6d+4lid>5uable+4riably+7nt+4sion+6ve+3ent+6ed+6ion+6or+8y=4rs+6e+6ion+5t+6ed+4st=6ed+6ig;8ate+bd+a
ing+bon;ds+bve+aor+cs+7ng+6ment;as+6or+8s+3isible+4tation+5e+6d+6s+5ing+3o+4cation+4ice>4ke+6d+5ing+4l+5ve+7d+7ment+7s
+6ing+2ward+2x#2y#3a#3in#2z#1o~2d#2l#3et#3ogical#5y#2n@3a#4l#5e#3e#4s#3i#4c43s,2r#3s#2s,3a#3o#3tream#2t#3ic#2us#4ly#2w
a32xid#1p~2aC3tion#2cC2e#3d#3line#3r#4s#3s#2h#3er#5al#2ient#3ng#2le#2ment#2o#2p#3ed#4rs#3ing#2ro#2s,3e#3um+2t#2ur#2y#1
qD2u#3e(4r#4s#3id#3é#1r~2aD3ble#3l#3m#3n64ian33q34i33s#2c#3le#3raft#3ular#2d#2e,3ct#5ed#5ion#8al#5ory#3d#3land33ment#3
n#3s#3z#2i#3cal#3e#3m#3ng#3s<4h33t#2k#2l#3ing#2m#3a#3ed#3ingham#2o#3n>4ic+4y+3s#2rational+3e+4gular+4levant+4spective+
3ig+5ation+4t+5ation+2sD3t#2t(3h#3s#4chaft#3ual#3y#2us#2vine35g32y#1s~2a83ac33n#4s#3tion#7s#2bnG2c(3al#3h#4e#5n#5r#3in
g#3o#2d#2e#3ase#3cond#7s#3d#3l#3n#3r#4s#3s#3t#2h83a#3ed#4r#4s#3i#4ng#3ment#3op#5s#2i#3a#3n#4g#4stance+3on(5s#3s#3ón#2k
#3a#3e#3o#2l#3am35ic34nd;6s;4tion#3e42m#3a#4n#3e#3ic#3o#3s#2n;2oP3l,4ate+7d+6ion+3n#4s#3t+2pH3ens#4rs#3iel#3lay#2rael5
6i32s~3a#4n#5ce#5t#3e#4ment#4n#5t#4r#4t,3ing#4on#6s#3o+4n#4rs#3u+4e>5d,5s<4ing+3y#2t|3a#4n#5bul35ce#5i#5t#4s#3e#4d#4m#
5a#4n#5t#4r(5s#4s#3i#4c#5al#7ly#5s#4ng#3le#3o#4n#4r#5y#3ration#4o#4y#3s(2u#2y#2z#2é#1t~2a(3ble#3ge#3ire#3l#4ia36n57o+5
c#4s#4y53n#4t#3r#4ian#4y#3s#3t#4e#5d#4ion#7s#5ve#2ch#2e(3ct#5ure#3d#3it#3l#3mB4s>3n#3r>4al#5te,6ion,9s+6or>4e#4tools+3
s#3t#2h(3er#3metic#3ub#2i#3c#3es#3mate#4e#3ng#3on(5s#4us#3s#3ve#5s#4ity#2le(4d#4s#2ness#2o#3l#3n#3r#4s#4y#3s#2r#3a#3e#
2s~3elf+3u#2t#3a#3ed#4n#4r#4st#3i#4ng#3le#3y#2u,3d#4e#5s#3ng#3r#4a#4e#5s#3s#2y(2z#3er#5land#2à#2ä#3t#2é#3s#1u#2m#2s#1v
|2a#3ble#3l#4ent#4s#3mente#3n43r#4iate#3s#3te(5d#4ion#5ve#2e(3au#3d#3l#4y#3n#4ess#3r(4ed#4s#5ary#5e#5ity#4y#3s(2i#3a#4
l#3d#4ual#3l#3ng#3ties#4y#4à#2o#3ry33s#3t#2y31w#1xP2a#2ed#3l#4s#3r#2in#2o#3n#1y#1z@2a#3beth#4le#3ción#3da#4o#5s#3r#4d#
5s#3tion#7s#3ção#2e(3d#3n#4s#3r#4s#3s#2i#3a#3n#4g#3o#4ne#5i#2o#3n#4tal#2z#3a#4rd#5e#3o#1ß#1ão#1ç+2in+2ão#1ère#4s#1én#1
ó#2n#1ą#1ć#1ę#0j>1a~2ar+2b;2c33k>4et+4ie34son57ville33ob35s33ques32d43e32g;2h33r34e35n32il+3me32k<3arta33e33o+2l<2m>3a
34ica35s+3es53ie34n#2n>3e54iro34t33g#4o#3uary52pan55ese52r<3ed33s+2s#3on53per32v,3a>4script<4x+3ier32w<2y52zz;1b&1cC1d
D1e>2alous+3n54s+2ct(4ed#4ion#5ve#2d;3en+4r+3i33nak+3och+2e#3p32ff54erson34rey32g+3o+2j+2lly+2m#2n43kins33n34ifer35ngs
34y33sen32opard+2r>3emy33k+3ome33ry33sey;3usalem32s43s54e34ica33t,3us52t>3s<3zt+2u+3ne+5s+2w;3el+5ry+3ish33s31i<2ang42
d#2ka+2ll32m53my32n41j#1k(1m#1oB2an32b>3s>2e53l33y32g+2h33annes33n54ny34s35on55ton32in_4ed+4ing+4s+4t>5ly+5s+2ke+4s+3i
ng+2n63as34than53es53g;2rdan53ge33n+2s43e34ph53h54ua33é32u+3r,4nal>7ism+9t+as+7s+5ey;4s,2v+2y<3ce31pG2egC2g#1rS1sR2on~
1t#1u>2an34a#2d>3aism33e33ge;5d+5ment+5s+4ing+4ment+8s+3icial;4th33y32e+3go+2g<3a+2ice+2l=3i34a35n34e35t34us33y52mlah#
3p=4ed+4ing+4s+2n>3ction;3e53g;4le;3ior;3k+3to+2piter32r;3isdiction+cs+3y+2squ+3t>4e+4ice=5fication+7ed+6y+5n52venile+
2ż+1wt+1à#1á+1ó+1ą#1ę#0k>1a@2b;2d;3ar+2fka32g32i33ser32k32l<2m;3p32n<3e33g33n;4st+3s+4as33t32o+2p<2r>3a33en35a+3l33ma+
3n33t;2s<3h34mir32t>3a+3e33h34erine34leen34y33ie33rina33z32uf32w32y=2z33akhstan32ż+1bP1cH1dD1e~2d#2e#3n+3p>4er,4ing<4s
+2in+4e+3t#4en#4h32l<3eton#4y#3ler35y34y52m;2n>3d34all33n34edy35n+5th34y33s33t34ucky33ya32p+3ada+3t+2r<3ala34s+3ja#3ne
l<6s+3r34y33s#2s,2t<2vin52y~3board=8s+3s>3word.7s.1gP1h>2al33n32o+2ông+1i>2ch#3k;4ed+4ing+4s+2d<3ding+3n+4apped+4ey+3s
;2e#3v32l;3l<4ed+5r;4ing;7s+4s+3omet+7ers+7res+2m>3ber32n>3d>4a+4er34ly+4ness+4s+3etic+3g>4dom;4s;5ton33s#4on#2p#2r<3b
y33k32ss;4ed+5s+4ing+2t>3a+3chen;3s+3ty31j+1k#1l]2ar+3ss+2e;3in35e+2är#1mP1nB2e+3e+4s+3w+2ife+3ght;6s;3ves+2ob+3ck;5ed
+5ing+5out+3t+4s+3w>4ing;4ledge;9able+4nB4s+3x31o|2b;2ch32d;2h32ji+2k42l<3e+2m<3men,5r+4t+3t+2n>3g33nte+3t<4akt+2p32r<
3e34a35n33t+2s<3t+4en;2t;2u32v#2wski#1pC1r|2a33ft32e43mlin32ij+3s34t55en32o31sP2i#1tH2e#2ion#2op#3r#2ó+3re+4y+1u<2b33e
rnetes32l+2mar32n;3nen+2r<3d33t33z+2s#3h32t+2wait31v,1w<2args,1y_2le31ä+1é+1ö<2n+3nen+4te+2z+1ü;0l>1a~2at+2bB3el>5ed+5
ing+5led+5s.3or=5atories;9y;4ur;3s;2c;3e,3k;4ed+4ing+4s+3t+2d<3der+3en33ies;3o+3y=2f33ayette32g<3e#4n#3i+3os32h42id+3n
,2k33e<4rs34s;2m<3ar33b;4da>4ert33e+4nt+3in+3p;4s+2n|3c;4aster34e33d>4ed+5r#4ing;4mark+8s+4o#4s<5cape;9s+3e<4s+3g>4e+4
le#4s+4uage>8s;3ka33s33tern+2p<3s+3top+2r<3a33g+4e>5ly+5r+5st+4o+3ry33s33ı#2s>3er;5s+3h#3s#4en+5s#3tB4ed+4ing+4ly34s+2
t>3ch+3e>4d#4ly+4ncy+5t+4r>5al+4s#5t>4x,3in=5a35o34on#4tude,3ter+4ice+3via32ud33gh+5ed+5ing+5s+5ter+3nch=6ed+7s+6ing+4
dry+3r34a54e;5n36t32v<3a+3or+5o+2w>3n+3rence33s;4on34uit+3yer+6s+2x+2y@3er>5ed+5s+3ing+3out>6s,3s+2z+3y+1bP2l+2s+1cH2d
C1dP2er#1e~2ad>4er>6s;7hip;4ing<4s+3f>3gue=6s+3h33k+4ed+4ing+4s+3n>4ed+4ing+3p+3r<4n>5ed+6r+7s+5ing>5s+5t+3se05d#5s#4t
+3ther+3ve>5s+4ing+2banese35on33en35s33ih+2c#3t<4ed#4ion#7s#4ric#4ure;7r+7s+2d~3ge#2e63ds33n#3p#3r+3t#4code#2ft~2g>3ac
y;4l>5ly+4te#3e#4n#5d>6ary+6s;3ion34sl;6ation+9ve;8ure;4t+5im+7acy+8te+3s+3t#2h43et+2i<3cester34h#5t+3gh43n#3sure+3tun
g#2k#2m43ent(3ma.3on;2n>3d+4ing+3e#3g+4th>6s+6y+3in33s;4es+3t+2o33n54ard37o34e32p#2r03i#3s#2sB3bian+3h#3ions+3lie33s>4
er+4ly#4ness#4on=6s+3t+2tB3a#4l#3cher#3e#4d#4s#3hal+3ion#3on#3s,3t,4e#5r>6s>4ing+3zten+2uk+3r,4s,2v<3ant#4rd#3e+4l>5s;
4r<5age+3i34n33y32w43is32xB3ical+4ngton32y<2z#1fH1gP2btC1hs+1i~2a,3bility+4le,3m34ent#3s#2b>3er+5al;6tion;5t;6y;3r+4ar
ies;6y>4e;4o+5s+3ya32c<3a#3e#4nce+5se>7d+7s+6ing+4s#3h#4e#5n#5r#4t#3k#3t#4ed#2d,3e#4r+2e>3d+3gt+3n+3r#4s#3s<4t#3u+4ten
ant;3ß#2f+3e>4cycle+4long+4span+5tyle+4time;3t+4ed+4ing+4s+2g,3a43e#3ht>5er+5ing+5ly+5ning;5s<5weight+3n+4e+3t#2j,3k#2
k<3e_4d+4lihood+5y,4s+4wise;3ing+2l;3y32m>3a33b+4s+3e+4stone+3it>5ation+as+5e+6d<5ing+5s<2n_3coln33d34a34say35ey33e~4a
+5ge+5r>4d,4n+4r,4s>5s#4up+3g<4en#5r,6ing+4s#4ton#4u+5istic+3ha+3ing,3k>4age+4ed>4ing+4s>3t,3ux>2o#3n<4s;2p<3id+3s+2qu
+4id;6s+4or+2re+2s<3a53h#3t_4a,4e<5d,5n>6ed+7r-8s+6ing+4ing>7s+4s>2t<3e34r<5acy+6l-7ly+6ry;6ture;3h;4ium+4uania33igati
on+3t+4er+4le>2u32v<3e_4d+4lihood+5y+4r;5pool34s;5tock+3ing=3re+2z31j#1k#1lP2a#3m+2cC2e,3g+4ar+3v+4ar+2i#3b#2oyd31mH1n
.1o~2adB4ed.5r.4ing>4s+3n>4s+3t(2b?3al&3by+5ing+2c~3al_5e.6s+5host#5ity+6zation+7ed+5ly+5s+4te+6d;5ing+6on>8s,3kB4down
+4ed,5r+4ing+4s+3om+3us+2d+3ge;2e#2g~3an33ged.5r>4ing,3ic>5al+7ly+4n>4stic;8s+3o>4s+4ut,3s,2in+2k<2mb34ok+2n<3don53e+4
liness+5y+3g>4er+5st+5vity+4itud+8e+8inal+4rightarrow#4time+2o#3k>4ed+4ing=4s;4up+3p>4ing+4s+3s+4e+5ly+2p#3ez32r<3d_4s
33e+4m54n35zo33o+3s+2s_3e+4r+4s+3ing+3s>4en#5s+3t>2t>3s,3tery+3us32u;3d+4er+4ly+3is55e35iana35ville32v43e_4d+4ly+4r+5s
+4s+3ing+2w_3e34r>5case+5ed+5ing+5s+4st+2x#2y33al+5ty+1pP1rH1sP2dC2t,2x#1t|2d32eC1u~2a32b;3ric+2c=3as33k;4y;3y32d;3e#2
ego+3nt#2g,3ar+3gage+2i+3s32k33e52m;3ber+3in+3p;2n;3a34r+3ch+3d33g<4s+2o32p32r+3e+2st<2t+3her32x<3embourg33urious+5y+2
z+1vH1x#1yB2cer#2ing,2mp#4h+2n43ch33n32on32ric+5s+2s#1à+1á+1ä,2sst+1å+1é,2g+1í+2nea+1ö+1ı#0m>1a~2al#3r+2c~3ed35onia33h
;4en+4ine>7ry;7s;4t+3k33ro<5n35s+2d>3d33e>3ison33ness+3re+4id32e32g_3azine;8s+3e43gie33ic=5al+3ma+3n;4a+4esium+5t+6ic;
6s+4ificent+5tude+4us32h=3arashtra33m33on$2i<3den+3l>4ing+3n_4e34land+5y+4s+5tream+4t+5ain+8ed+8ing+8s+5enance;9t+3or+
3s;4on+2j;3esty33or>5ity;5s+2k<3e>4n+4r>5s,4s;4up+3ing>2l>3aria+4ys36ia38n33colm33e>4s+3function+3i34cious+4gn+4k34nk#
3l<4oc,3t+4a33ware+2m;3a33m+4als+2n_3a,4ge>6d.6ment>6r>7s+6s+5ing;3chester53d<4ate+7d+6ory+3e+4nt#4ra+4u+5ver+3g;4a+4e
+3hattan33i#4a#4fest<8ation+ds+8ed+8o+5old+4la34p+5ulate+ad+9ing+aon+4toba33kind+3n44er+6s+4ing33o+4r33s<4ion+3t<4le+3
ual>6ly+4el44fact;8ure+bd+br;cs+aing;4s+5cript+as+3y>2o32p~3a+3le33ped+5r.4ing=7s+3s<2r_3athon;3ble+3c=4a+4el34h=5ed+5
ing+4o35s34us33e<4s#3g=4aret34in>6al+6s+3i;4a54e34juana+4lyn34n35a35e;6s34o35n34tal+5ime;3k_4ed,5r=6s+5t>6ed+6ing;6pla
ce+6s+4ing+7s+4s<4up+5s33l33riage;8s+5ed,4y+5ing+3s;4h;5al37l33t>4ha34ial;5n56ez34y33vel;4in33x33y64land32s>3a+3c+4ul+
6ine+3h+3k>4ed+4ing+4s+3on33s>4a+5chusetts36re+5ge+4e+5s+4ive+3t;4er>6s;6y+2t_3ch>5ed,6s.5ing+3e<4r+5ia+7l_8s=5nal+4s,
3h>4ematic+aal+as;3ic#4ng+3labC3plotlib+3rices+5x>5z+3s33t=4er;6s+4h35ew57s34ress+3ure+5ity+2u+3r34ice32ver32x~3im;5al
+5ize+5um>3well32y>3a33be>3er33o;4r;2z33e+1b|2aC1c~1d~1e~2al,4s+3n>4ing<7ful+7less+7s+4s<4t+5ime+4while=3s+4urable+6e>
7d+7ment=bs;7s;6ing+3t;2c+3han;6ic+8al;8s;7sm+9s+2d_3al;5s+3i,4a>5n<6te+5te#7d+7ly#6ion+6or+4c;5aid36l=6re36tion+as+5i
nal+7e;8s+4da+4eval;4o+4tation+5erranean34um>2e+3r+3t=4ing=7s+4s+2g<3a;4n32h33r;2ille+3n;4e+3o+2j+3or+5es+2l>3an+3bour
ne33hor+3issa33l;3ody+3t+4ed+4ing+2m~3b+4er>6s>7hip;4rane+8s+5es+4uat+3iliki+3o-4ir+4r+5able+5ia+7l;6es+5y>3phis33set+
2n>3c+3d;3g;3ing+3j+4adi+3o#4r+4s+3s<4chen34en+4trual+3t@4al;6ly+5tion#4e#4ion+7ed,7ing+7s+4or+4s#3u>4s+3y+2rB3c;4ado+
4e#5des34h+5andise+7t;8s+4ial#4ury;4y;3e,4ka+4ly+3g+4e>5d,5r+4ing+3ican#4t+5s+3lin33r34y33s#3upakan+2s>3a;3es+3h>3mo+3
s<4age>7s>6ing+4ed+5nger;4y+3t+2t_3a>4b+5ol+7ic+8sm+4data>4l=5l+6ic+5s+4ph+6or+4st+3eor;4r<5s+3h<4ane+4od_6ist36ology+
6s_4yl+3ics#3odo+3res+4ic.6s.4o<5politan;5s,4y#3s33tre+2u+2x=3ican35o52yer32z+1fG1g|2a+1hG1i~2a;3mi32c|3e+3h=4a35el54e
35l36e36le34igan33k34ey33ro>5bi+7al+5phone+5scope+6oft55wave+2d_3d+4le>6ware-3night;3st+3t#3west32e,3ntras+3s+3ux+2g;3
ht;5y+3rant+7s+5te+7d+6ion=9s+3uel32j+2k;3e52l>3an35o33d;4ly+3e<4s;5tone+3it;5ant+8s+6r+7y;5ia+3k;3l>4ennium35r34ing+5
on;7s+5s$6econds+4ones+4s;3ton33waukee32m+3ic+2n~3a#3d>4fulness+4s+5et+3e<4r+5al;7s+5s+4s;3g<3ha+3i>4ature+4m+5al+5ize
+7ing+5um>4ng;4st;6er;8s;6ry;3neapolis35sota33o#4r<5ities+7y+3s,4ter#3t;3us,4te;6s>5os+2o+2r>3acle+7s+4nda33ror;6ed+6s
+2s<3c33e+4rable+5y+3h33leading+3m+4a+5tch+4o+3s>4ed+5s+4ible#5le+7s+5ng>5on>7ary+7s,5ssippi34ouri33t;4ake+7n+7s+3unde
r+8standing+aood+4se+2t~3ar33ch35ell33h#3ig+5ate+7ion+3ochond+9rial+3s33t<4ed#5r#2um#2x=3ed;4r+4s+3ing+3ture+2y32z31jC
1k|2dir#1lP2bC2sC1mP2aC1n|1o~2b;3il;5e>5ity;2ck>4ed+2d_3al>3e>4l>5ed+5ing;5ling+5o+5s>4m+4r;5ate+8ly+5n>6e+4s+5t+3ific
+7ation+cs+6ed>7r+8s+5y;6ing+3o+3ular+6tion+5e>6s>5o+5us+2et+2g;3elijk+2h33amed35mad36ed32i+3d#3l#3ns+3s+4t+5ure+2l<3d
;4ing+3e+4cular;7e+8s+4st+3l+4y33to+2m=3ent<6o+6s+6um+2n_3aco34rch+5y#3d<4ay54e+4o+3et+5ary+4y>3g;4o35ose,3ica34tor=7e
d+7ing;7s+3k;4ey;6s+4s+3o;4pol+7y+4t+3roe33s44ter;7s+3t>4ana34e35r34gomery34h>5ly=5s,4on#4real33ument;8al+8s+2od+4y33n
=3re32r>3al+5e+6s35ity+5ly+3e>4no34over=3g34an33m34on33ning;3occo33ph;5ology+3ris36on33t;4al+6ity+5r+4gage+4on32s]3aic
+3cow33es33que+5ito+3s;3t>4ly,4rar+2t>3her>6s+3if+4on=6s+4v+5ate+8d+7ion+as+5e+6s+5o+3or>5cycle+5s;3s+3to+2u;3ld+3nd+4
t>5ain;8s;5ed+5ing+5s+3r;4ning+3se>3th,5s+2v<3e>4d+4ment=8s+4r+4s+3ie>5s>4ng=2y;2z42ż+3e+3na+1pP2h,2iC1q(1r~2iG2s51s~2
g21t~2vC1u_2c+3h>4as+4o+5s+2d;2eller33stra+2ff+2g;2hammad32i#3to+2j33er+5es+2k32l<3heres+3l33t>4i>5cultural+5d+5f+5med
ia+5national+5p+6le>8s+7ication+8ed+9r+7y+5s+5tude+2m;3bai32n<3d<4o+3ich35ip;7al;9ities+by+4tion#2r>3al+3der;6ed+6s+3p
hy33ray32s>3cle;6s+4ular+3e;4um;6s+3h+4room+8s+3ic>5a+6l;5ian+8s+4k33k33lim;6s33s+3t_2t>3able-4nt+4te+5ion=8s+3e+4d+3u
al;6ly+2y+1vP2cC2pC1wG1xP1y~2anmar32ers32riad+2s,3elf+3ql,5i+3t;4eries+7ous+6y;4ical+2th;4ology+4s+1á+2s+2ximo+1ã+1å+1
é;2d+2t;3h+3odo+2xico31ême+1í+2n+1ó+1ö+2chte+2glich;1úsica+1ü+2ssen+0n>1a~2ar+2b+2ch=3ional;2d;3a+3u32g;3e#2h<3me#2il+
4s+3re#5s#3ssance#3ve+2j;2k<3ed+2l#2m>3a,3e~4d>4ly+4s>5pace.3ing+2n<3cy33o;4p+3t#4s#2omi32p<3oleon32r<3c+3r;4ative+9s+
6or+4ow+6ed+6ly+2s]3aC4l+3carC3h34ville33t+4y+2t_3al45ie33e33h34an33ion;6al>8ism+at+9ty+8ly+8s;6s;6wide+4ve>6s+3oC3ur;
5al>7ly+5e=3ürlich+2usea+2v>3al;3bar,3e+3ig+5ate-7ing+8on>7or33y;2w+2z;3i34s31b|2aC2cC2sp#1cP2aaC1dP2a#2e#3f#3r#1e~2a#
3l33polis#3r>4by+4est+4ly;3t+4h#4ly+2b33raska32c;3es+5ario+5s+6arily+8y+6ity+3k;4lace+3t&2d<3erland32e#3d>4ed+4ing+4le
+6s+4s;2g>3ative>8ly+8s+3lect+7ed+3o#4tiate+9d+8ing+9on+bs+3ro;2h43men#2i+3ghbor+8hood+cs+8ing+8s+7ur+9hood+9ing+9s+3l
53ther;2j#2k#2l,3l,4a+4e,3s#4on32m;3ent#2n,2o<3n;2p33al33h+4ew+2r@3o#3s#3v+4e+5s+4ous+2s#3day#3s#3t<4e+5d+4ing+4js#4y#
2t~3flix33herlands33s<3t+3work>7ing+7s;2u;3e;4n+3r+4al;4o;5logical+5n+6al+6s+3t+4ral<7ity+5on+2v33ada33er>5theless=2w~
3ark33born+3castle34om+3er+4st+3ly+3man33port33s>4letter+4p;5aper+9s+3ton32x#3t_3us32y#3s#2z#1fH2cC2lC1g~2inx#2uyen31h
P2lC2sC1i~2a#3gara32b+2c]3aragua33e>4ly+3h;4e+4olas34t+5s+3k>4el;4name+3o34la36s35e34tine+2e>3d+3j#3lsen33t;3uwe+2gel3
4r35ia37n33ht>5mare+5s;2k<3e33on32l>3e32m<2n<3a33e;4te+6enth+5y+3g04en#4s#3tendo34h+2r32s#3san32t<3rogen+2veau+4l+2xon
32ños+1jL1kH1lP1mR1nP1o~2ah32b;3el33le;3ody=2c,3h+4e+2d+3ded+3e>4s.2el33xcept+2g+2i+3r;3se;5s+4y+2kia32lan32m>3bre.3e.
3in+5al+6ted+7ion+as+5ee+2n>3atomic#3d+3e>4theless;3linear+3profit+3s+4ense+3zero+2od+3n,2r_3a33d;4ic33folk33m>4al>6iz
ation+8e+9d+6ly;5n34s+3ris33th=5east;6rn=5west;9ern34on33way34egian32s<3e+3otros+3sa+4o+3t,4algia+4i#2t~3a+4ble+6y+4ti
on,8s#3ch+3e~4book+4d+4s>4worthy+3hing>3ice>6able+6d+6s+5ing+4fication>cs-6ed+5y-4ng+4on+6s+3orious+3re;3tingham32u;3n
+3r+3s=3ve+5au+5lle+2v>3a;3el;5s+5ty+4mber53ice+3o+2w_3adays+3here+3n#2x#2ści#3ć#1pP2cC2m,1r~1sR2aC2wC1tP2e#3n#2on#2y#
1uB2cle+5ar;5us+2d+3e+2e+3st+5ra+6o+7s+3va+4o+5s+2g32ll~4a+5ble.4ptr+2m~3b+4er_6ed+6ing+6s>3er=5ator+5ic,7al+5o,6us+3m
er#3py+3s,2n;3ca+3g#2ovo+2r;3s;4e;5ry+5s+4ing;3t+2t<3rient+8s+5tion;9al+3s+1vG1wC1x,1y|2a,2cC3h#2der#2lon+2m#1zG1ão=1ä
+2ch+2r+1å+1é,2cess+1í#1úmero+6s+1ą#0o>1a(2d#2k;3land32rd#2th+2uth#1b~2a#3ma33r#2b#3y#2e#3d+4ience+3l#3r43se+4ity+3y+2
i#3a#3c#3l#4e#2j.3ect_6ed+6ion+9s+7ve=9s+6s>4t+5ivo+5o+6s+2l43e#3ig+5ation+as+5ed+4v+2o#3dy#3x#2ra,3e#3ig+2s<3c+4ure+3
erv>6able;7tion+bs+8ory36e+7d+7r>8s+6ing+4ssed+6ion+3olete+3t+4acle+8s+4ruct+8ion+2t+3ain+6ed+6ing+3en+5er+2vious+7ly=
2y#1cP2a#3do#3l#4ypse#3rd#3tion#7s#2c>3as+5ion+8al+aly+8s+3o#3ult+4p<5ancy+7ts+6tion+aal+as+5ied,7s+5y+6ing+4r+5red+7n
ce+as+6ing+5s+2ean;5s+3ne#2h,3en#3ond#3t#2i#3al#3de#3o#3ty#2k(3er#4t#5s#4y#3s#2l#2o#3de#3l#4ate#3m#4plete#2r#3acy#4t#5
es#5ic#3e#3ine#2s#2t_3ober52ular#3ment#7ed#3p,3s#2y#3te#5s#1d~2a#3l#3y#2b#2d>3s+2e03d#3l#3n#3r,3s#2ge#2i#3a#3c#3ed#4s#
3ng#3um#2o(3n#3r,4e#3s#3x#2p+3owied+2s#2u#3s#2y(3namic#3ssey32zi#1eH2cdC2s#1f~2f~3ence+5ded+7r+8s+6ing+5se+6ive+4r>5ed
+5ing+8s+5s+3ic+5e>6r;7s;6s+5ial>8ly+8s+3line+3re+3s#4et>6s+4hore+4pring+2icial+2t,3en<1g@2a#3n#2e#3n#4e#5ity#5ous#5si
s#4ic#4ous#4s#3r#2g#3le#2h#2i#3e#2le#3ob#2n#3i+4tion#6ve#2o#3nal#2r#3ad#4f#5ia#4m#5s#4ph#6er#6ic#8al#aly#8s#7es#6s#6y#
2s#3å+2ue#2y#1h~2a#3n#2io32l#2n#3e+1i#2d#3s#2l;3s+2n#3t#4ment#4s#2r#3e#2s#3e#2t#1j#2i#1k~2a#3y=2e#3d#3n#3r#4s#3s#2i#3a
#3n#4g#2lahoma32o#2s#2tober32u#2y#1l~2a#3n#3r#4e#3s#3te#4ion#2dB3er@4st+3ing#3s#2e<3an#3cular#6e#3d#3h+3m#3n#3r#4ance#
3s#3y#2f#2g#2i,3a#3c#4ies#4y#3d#3g+3n#4a#4e#3s#3th#5ic#3v34e;5r34ia35er32k#2l#3a#4h#4nd#4r#3e#4n#4r#3o#4w#3s#3y#2o#3g#
4ia#5c#6al#8ly#5e#6s#5st#7s#4ne#4ue#4y#4ía#2ph#2s#3on42t#3a#2u#3lu#3t#4e#5ly#4ion#2ve#4d#4r#4s#2y#3mp35ic37s32óg#1m~2a
#3ha33in#3l#3n#3r33s#3tic#2b#3a#3re#2e(3d#3ga>3n#4t#3r#4s#3s#3t#4er#6s#4hing#4imes#4ric#5y#3z#2i#3al#3c#4s#3n#4ated#4g
#3t,4ted+2m#3en#2n+3ia#2o#3n#3re#4phic#2p#2s#2y#1n~2a#3cci#3l#2board+2c;3e>4s#3lick+2d#3a#3e,4n#4r,5e#5s#3o#4n#3s#2e~3
d#3n#3r#3s<4elf+3y#2g(3o#4ing+4ose#3s#2i#3a#4n#3c#4a#3ng#3on+5s+2line>3y_2n#3a#3e#2o#3m#4ic#4y#2s,3e&4t+3o#2t@3a#4rio3
3e#3h#3o,2ward+6s+2y#3m#4ous#2z#3e+1o(2d#2k,3ie#2l#3s#2m#2n#3s#2r#2t#1p~2a#3city-3que+3rd#3th#5ic#5y#2e#3d#3n_4ed+5r+4
h#5agen#4ing=7s+4ly+4ness+4s,3r>4a;5nd+5te+7d+7s+6ing;7on>9al+9s>7ve,6or>8s+3s#2h#3er#3ile#3one#2i#3a#3c#3n+4g#4ion+7s
+3oid+2l#3e#4s#2o#3l#3rtun+3ulos#2p<3er#3ing#3on+5ent+8s+4rtunities+ay;4s+5e+6d+5ing+6te+7ion;3ression+2ro#2s.3is#3y#2
t>3ed+3ical;5s+4m<5al+5ism+7tic+6zation;7e+8d+8r+7ing+5um+4on>6al>8ly+6s>3s+2us#2y#1que#1r~2a,3ble#3cle;3ge#3l<3n#4g+5
e>3s#3tion#5ve#3z+2b<3it+5al+2c#3e#3h<4estra;2dB3a#4n#3e#4n,4r~5ed<5ing+5s>3in,5al+6ry+6te#8s#5g#3o#4n#3s#2e@3a#4n#3d#
3gon33m#3n#3r#3s#3t#2f#2g>3an>5ic<6s+7ation<cs+7e+8d+7m+8s+6z+7ation>cal+cs;7e+8d,8rs+7ing+5s+3e#4n#2i43a#4l#4n#3c#3e#
4nt<6al37tion<6ed+4s#3g>4in>6al>8ly=7ted+8ing+6s;3ng#3o#4n34us#3s#2k(2lando33d#3eans32m(3al(4n#2n#3a#4ment+3e#4y#5s#3o
#3s#2o43us#2p#3h#4an+4ism#3or#3tion#2r#3ect#3h#3o#4w#3y#2s(3che#3e#3i#3t#2t@3al#3e#4d#3h<4odox34y#3ing#4on#4z33s#2u#3m
#3s#2y(2z#1s~2a#3l#3ur#2borne32c]3ar33ill+3ope#2e#3d#3n#3r#3s#3x#4ual#2h#3i#2i#3ng#3s#3t#4ion#4y#2lo32o#3b+3me#5s#2p,3
h#4ere#3ital#2s,3a#2t@3a#3e+4n#4r#5one#3i#3o#4n#3r+4eam#1t|2a#3l(3s#3tion#2e(3ch#5n#6ology#3d#3l#3n#3r#3s#2h(3erB5apy#
5s>5wise<3y#2ic#4s#3de#3ne#4g#3on#5al#5s#2o(3n#3r#3s#2ra+4s+3e#3o+4n#4pic#4s,2s#2t<3a#4ge#4wa33e#4d#4n#4s#3i#3o44m#5an
32yp#4e#5s#4ing#1u@2b#3le#3tedly#2ch#4ed#2d,2gh#4t,2i#3s#2l#3d#4er#3os#2n#3ce#5d#4ing#3d(4ed#4ing#4s#3ge#3t#4ain#4er#4
y#2p#2rB3age#3ce(5s#4ing#3d#3ed#3g#3i#3nal#3s,4e#5lves+5s#3t#2s#3and#6s#3e#4d#4l#4s#3ing#3ly#3se#3t#4ic#2t~3break+8s+3
come+7s+3dated+4oor;7s+3e#4r<4s#3fit+3going+3h#3ine#6s#5g#3let-6s+4ine=7d+7s+4ook;3put_6s+3rage+5s+4each+4ight+4o+5s+3
s,4et+4ide>4kirts+4tanding;3ube#3ward+2v#3er#2x#1v02a#3l<3n#3r+2e#3d#3l#3ment#3n,3r_4all=4come+7ing+4d+5ose+4e#4flow<4
he+6ad+4l+5ap+7ping+7s+6y+5oad+6oked+8ing+5y+4night+4ride.7ing+4s,5e+6as+6e+5ight+4t+5hrow+5ime+4view=4weight+5hel+8me
d+9ing+3s#2i#3c#4h#3e#4s#3ng#2o#2y#1w@2a#3ne#4ia#5e#3ć#2e,3d,3go#3j#3l#3n34s33r(4s#2i#3e#3ng,3tz#2l,2ment#2nB3ed,4r>5s
,6hip+3ik#4ng+3load#3s+2o#2s#3ki#2y#3ch#1x@2ford32id+4ation+7ve+4e,2y#3gen+1y#2a#3l#2er#1z<2illa#2one+2y#1ù+0p>1a~2ar+
2blo32c[3e,4s#3iente+4fic33k>4age>7d+7s+6ing+4ed+5rs35t=6s+4ing+4s+3t+2d>3a+3d+4ed+4ing>4le+3re+3s+2g;3e_4s>3ina+2i+3d
,3n;4ful+4s+4t=5ed+6r+5ing;8s+3r>4ed,4ing+4s-3s+2k<3istan38i32l_3abra+7s+4ce;4te+3e;4st36ine38ian34tte+3l;3m;4er34s+3p
+2m;3ph+2n_3ama33c+4re+3d;4as+4emic+3e-4l>5s+3ic,4es#3or+3s+3t;4her37s34s+2p;3a33el+4r>5s;5work+2r~3a>4ble#4ch+4d;5e;5
igm+6se35ox+4graph.9s+4lle+7l>8s+4m>5eter>9s>5ount+5s.4s+5ites+4tion#3c+4e+5l+3d#4on+3e<4ce+4d#4ncy#5t>6al+6heses+6ing
+6s<3i+4ng#4s55h;4ty+3k>4ed+5r34ing+6son34s;4way33l+4iament;aary+3ody+4le+3s;4e>5d+5r.4ing+4ons33t~4e+4i+5al>7ly+5c+6i
p;8ant+bs=9te+bd+aing+bon;6le;8s+6ular+aly,5e+6s;5r+5san+5tion<9s+4ly+4ner>7ed+7s;8hip;bs+4s>4y>2s_3ado+4r+3cal33o;3s>
4age+7s+4e+5d+5nger;9s+5r+5s+4ing;5on;7ate+5ve+4port+4word>8s+3t>4a+4e<4or;2t_3ch>5es+3el34nt;6s+3h~4ogens+5logy+4s.4w
ay+7s+3ibility#5le#4ence+6t>7s;4o+3ri;5arch+5cia36k65ot;7s34ol;5n+6s+3tern>7s<6son32ul54a34o33se,5d+2v;3ed+4l34ment+3i
lion32w;3n,2x32y>3er+3ing+3load.3ment>7s+3ne33s+2ís+4es+1bP2sC1cP2aC2bC2iG2rG1dP2f|2tC1e~2ace;5ful+3k<4ed+4s+3nut+3r;4
l34son33s+4ants+3t#2c,3ial#6ly#4fic#6ed#3t#4ed#4ive#3uliar+2d>3al+3est+6rian+3iatric+4g+3ro32ed#3k+3l+3r>4s+2g<2i#2kt#
2l<3a+3l#4et+6s+3o+2m+3b;2n>3al+5ties+6y+3c+4il+3d<4ant+4ing.3et+5rate+8ion+3g;4uin33insula;4s+3n;4sylvania34y;3s;4e+4
ion+3t<4agon34ru+2ople>6s+2p33per;3tide+2que+2r~3c<4e+5ive+8d+5nt>7age>as+7ile+5pt+7ion+as+4hé+4y33d+4er+3e34d#4nnial+
4z33f+4ect=7ion+7ly+4orm<7ance>bs+7ed+8r+9s+7ing;7s+4ume+3haps>3i,4l+4meter+4od>6ic+8ally+6o+6s+4pheral+3k+4ins33l;3m,
4an+6ent;9ly+4e+5t+4issible+8on=as-5t+6e+6s+6ted+7ing+4utation+bs+3o;4r#3pendicular+5t+6ual+4lex+3ry33s>4ec+6ution+5ve
r+4ian35st+7ed+8nce+9t+7s+4on>6a+7l>8ities+ay;9zed+8ly+7s+6e+6ne+8l;8s+6s;4pective;bs+4u+5ade+8d+4ön+3t,4aining+4h34in
ent+3u33vasive+3í+2s<3o+3sim+4o+5a+6s+3t+4ic+6ides+4s+2t_3e34r55s36burg36on33it+5e+5ion+3ro35l+6eum;3s+3ty+2u+3t+3vent
+2w+2y32z#1f|1gP1h~2a#3bet#3lt#3n#4t#5om;5s#3rm35ac;7eutical;7y+3se>5s+2en<4omen+8a+8on+3rd#2i>3l=4adelphia34ip56p37e3
7ine3as36s34l35ip37s34osoph;9er+bs+9ical+9y;3n#4s#3s#2oenix33n,4e>5s,4y#3sph+6ate+3t;4o>5graph+aed+br+aic+as+ay;5n+5s>
2pP2rase,6s+2y#3s>4ic+6al>8ly+6ian+9s+6s>5ological+9y+5que+1i~2an+4o;2c_3asso33k>4ed+5r%4ing+4le+4s+4up+3nic+3t+4ure>7
d+7s;2dL2e<3ce>5s,3d+3l#3n+3r;4ce35ing+4re34ws+3s,2g;3e+3ment+3s+2k+3e32l[3e+4d+4s+3l;4ar+6s+4ow+4s+3ot;5s+2n_3ch+3e<3
g<3k;3ned+3s+3t+2one+5er;7ing+2p<3e>4line=8s+4r34s+3ing+2r<3ate+6s;5ion#2s,3s+4ed+3t;4ol+5n+2t<3ch;5ed+6r+7s+6s+5ing+3
e#3s+3t34sburgh33y+2v+3ot+5al+2x;3el=5s+2zza;2ù+1jC1kP1l~2a,3ats+3c+4e>5bo+5d,5holder,5ment,5s<4ing,3g+4ue+3in>5s;5tif
f+4s+3n>4e<5s,5t;6ary+6s+4ned+6r+7s+5ing;4s;4t>5ed+5ing+5s;3que+3sh#4ma;4ter+5ic;7s+3t,4a+4e>5au+5s+4form>8s+4inum;4o3
4z43usible+3y>4back+4ed,5r>6s>4ful+4ground+4ing=4list+4off+7s+4s<3za;2cC2e<3a+4ded+4sant,5e>6d+5ing+5ure+3d#4ge+3ment#
7ation#7s#3nty+3r#3t#4e#5d#5ly#4ion#3x#2iance#3er#4s#3ne#4g#3t#2ot>4lib#4s,4ted+5ing+3y#4ment#2t,2ug,4ged+4in>6s,4s+3m
+4bing+3ng+5ed+3r+4al+6ity+3s>4ieurs+3t+4o32y,3mouth31mP2idC1nH2eum+5onia+2gD1o~2b+3l+2c+3ket;6s+3o+2d>3cast+3e+4m+5os
+4r+3ium+3s+2em+4s+3t+4ic+4ry;4s+2i+3nt>5ed+6r>7s+5ing+5less+5s>3s+4on+6ing+2k;3emon34r+3émon32l~3and34r;5ity+3e<4s+3i
c+5e=6man+5ies+6ng+5y>4sh36ed+4t;5e+5ic+7al;9ly+7ian+as+7s;6que+3l>4en+4ing+4s+4ut+6ion+3o;3y>4ester+4gon+7s+4m+5er+4n
omial+3ítica+2m;3pe32n<3d<4e#5r,3ent#6ial#6s#4r+3s#4e#5s#3t;4o+5s+2ol>4ed+4ing+4s+3n#3r;4er+4ly+2p_3e;3ped+4ing+3s+3ul
+5ar>7ity+6te+8d+7ion>as+4p$2r_3a#3ch+3es+3k+3n+3que+3sche33t~4a+5ble;5l>4e,5d#5r34folio<4ion,7s+4land34o34rait;8s+6y+
7al+7ed+4s,4ug36al36uese32s~3able#4l#3e@4d,4r#4s+3ible+4ng,4t,5e#5ion>8al+8ed+8ing+8s,6ve>8ly+8s+5ories#7y#4um#3s<4ess
+7ed+8s+7ing+8on+as+4ibilities+ay+6le>7y,4ível+3t~4a#5l;4ed-5r+6ior+6s+4ing+4pon+7ed+4s>5eason+4ure+3ure#2t>3assium+4t
o+6es+3ency+5t+6ial;9ly+3s+3ter32u+3ch+3ltry+3nd+5ing+5s+3r>4ed+4ing+3vez+4oir+2v+3erty+2w>3der;3ell34r>5ed+5ful+5s;2z
+1pP2e#3d#3rs#2ing#2m+2o#2pC2s#2y#1r~2a<3c+4t;5ical;9ly+7e;8d+8s;7ing+6tion+aer+cs+3desh33g+4ma#6tic+4ue33irie34se+6d+
3kt+3tt33w+3y+4ed+5r;6s+4ing+2e~3aching+4d#3c;4autions+4ed+6ed+7nce+8t+6ing+4io+6us+5p+6itation+5s+6a+6e+7ly+6ion<4urs
or+3d>4ator+8s+4ecess+9or+bs+5fined+4ic+6ate+6t>7able+7ed+7ing+8on;as+8ve+7or+7s+4omin+8antly+3f-4er+6able+9y+6ence+as
=6red=6s+4ix.6es+3g+4n+5ancy+7t+3hensive#3is33jud+6ice+3l34iminary+3m=4ature+4ier;7e+5se+7s+5um;5ère+3nd,5re+3p+4ar+6a
tion;bs+6e>7d+7s+6ing+4rocessing+3re+3s>4chool+5ribed+7ption+cs+4ence;6t>7ation=cs+7e+8d+8r-7ing+7ly+7s+5rvation+7e+8d
+8s+7ing+5t+4idency+8t=9e+9ial;9s+4s>5ed-6s+5ing+5ure>8s+4t+5ige+7ious+5on34um+6ably+6e+7d+3t<4end+7ing+5r#4ty>3v.4ail
+7ing+5l+6ence+8t+4ent;7ed+7ing+8on;8ve+7s+4iew=5ous>8ly;3y+2i]3ce>5d+5s+4ing+3de;3est;6s+3m>4a+5rily+6y_4e>5ira+7o+5r
+6a+6o+5s+4itive+4o+3n+4ce=6ss;6ton35ip;7al>7le+9s;4g#4t>5ed,6r+7s+5f,5ing;5ln,5s,3or=5it+7ies+7y>3s+4e#5s#4ing#7ly#4o
n;6er+8s+6s+4tine+3te#3v<4acy;5t+6e>7ly+4ile+7ge+9d+9s+3x;3ze;5s+2o~3active+3b>4abilities+ay+6le+7y<5tion+4e;5s+4l+5e;
6m>7a+8s+8tic+7s;3c>4ed+6ural+8e=9s;5ed+7ed+7ing+as;7s+5s+6o+6s>7ed,8s;7ing>7o+8r>9s+4laim+8ed+4ur+6ement+3d>4u>5ce+7d
+7r=8s+7s+6ing+6t>7ion>as;8ve,9ity+7o+8s+7s>5it+7s+5k+6t+5to+7s+3f>4es+6ional+6s+7ion;aal;cly+cs+as+7or=9s+4iciency+5l
+6e>7s+6ing+5t.6ability+8le+6s+4ound+8ly+3g+4n+4ram>7a+7m38e;9d+9r+as+9s+8ing;7s;5ess>8ed+9s+8ing+9on+9ve;bly+3hib+6it
+8ed+8ion+3ject_7ed+7ile+8on+as+7or+7s>5kt;5t+6o+3l+4et+4ifer+8ation+6ic+4ong+7ed+3m>4in+6ence+8t+9ly+5se=7d+7s+6ing+4
o+5t+6e+7d+7r+7s+6ing+7on;9al+9s+4pt-6ed+6ing+6ly+6s+3n,4e+4ounced+4unciation+3of>5s+3p>4ag+6anda+7te+8ion+4er;6ly+6ti
es>7y>4hecy+6t37s+4or+6t+7ion+aal+as+5s+6al+8s+6e+7d+7s+6ing+7tion+4ri+6et+8ary+6o+4s>3s;4e+5c+6ution+8or+4pect;8ive+8
s+6r+7ity+4t+5ate+5itution+3t<4agon+8ist+4e;5ct;7ed<7ing+8on;as+8ve+7or+7s+5in<7s+5st;7ant37ed+8rs+7s+4o>5col>8s+5type
+9s+3ud+5ly+3v<4e+5d+5n+5s+4ide;7d,7nce37r>8s-7s+6ing+5nce;8s+7ia+9l+6g+5sion+9al+9s+4oc+5ke+7d+3w+3x+4imity+4y>3yecto
+3zent32u33dent+3eba+2y32z+3e+4d+4z+3y+2á+2é+3c+3s+4ent+2ó+3ximo+2ü#1s~2aC2eud+5o+2i.3lon#2on#2pC2y<3ch=5iatric+ast+6c
+5o;6logical;ast+cs+9y;1t~2a#2e#2hread+2ic#3de#5s#3on#5s#3ve#2o#3n#2r.2s,3dC2y#1u~2b>3li+5c_6ation;bs;6ity+6ly+5sh+7ed
>8r=9s;8s+7ing;2ede+5n+5s+3rto33s+2ff+2is+2l;3l>4ed+4ing+4s+3monary+3p+3s+4e;5s+2mp;4ed+4ing+4s+2n<3ch+5ed+4t+3ish+6ed
+6ment+3jab33k<4t#3t+4o+5s+2p+3il+5s+3pet+4y+2r]3ch+5ase=8d+8s+7ing+3due33e>4ly+3ge+3ity+3ple;4orted+5se[7s+3s+4e+4ue+
6d+5ing+6t+2s,3h>4ed+5s+4ing+2t~3ation#3e#4d#4r#3in33s,3ting+2zz+4le+2és#2ò+1vG2cC1wO2mC1x,1y~2game+2l+2ramid+2test+3h
on>1á+2gina+1å+1é+1úblico+1ř+0q>1a#2tar31bC1cC1d#1i<2n33g31l(2i#1p#1q#1rH2t#1s#1tV1u~2a,3d>4r+3lB4ification+ds+7ed;6y+
7ing+5tative+6ies+6y>6é+4quer+3nd+5o+4t>5idade+6fy+6tative+7ies+7y>5o+5um;3r+4antine+4e#5d#5s#4ry+4t;5er<7back+7ed#7ly
37s,5z+3si+2e~3bec33d+4a#3en=5s36land34r+3l,4la+5e+5o+4que+7s+3m+3nce#4t#3r,4ies+4que#4y>3s#4tB5a+5ion>8able+8ed+8ing+
8naire+8s>5o+3t#3ue>5s+3z#2i<3ck>5er+5ly+3en+4r#5e+4t,5ly+3l+3n#4a#4di+4n34t;3r#4e#5d#4y#3s,4a#4ite#7s#6ion#4t#3t,4e;4
o#3z>2o,3i,3t,4a+5tion+4e>5d+5s+4ient+5ng+2ran32é.0r>1a~2b43bi35t;6s+2c<3e>4d+4s+3hel33ial+4ng;4sm+5t+3k,3tion#3use#2d
_3ar;3e#4s#3i<4al+5tion+4cal+7ly+7s+4o>5active+5s+4us>3o#4r#2el#2fT3ael33t,2g<3e,4n#3ment#3on#2h43am#2i#3dL4ers34s+3l<
4road;4s<4way;3n>4bow;4fall+4s+4y+3s#4al#4e,5d+5s+4ing+4on+3t#4s#2j42k32l#3e#4igh33l+4y;3ph32m~3a#3e#4nto#4r#4s#3os33p
+3s34ey32n<3ce#4h;3d>4all34om>6ized+6ly+4y33g+4e>5d+5r36s35s+4ing+4le#3k>4ed+4ing;7s+4s+3s#3t#2p<3e,4d+3h#4ics#3id;5ly
+5s33p+4ed#5r#4ort+2q#2r#3e;4ly+3ity+3y#2s<3e#3h;3pberry33ter+4ructure#2t<3e>4d,4s<3her<3ing>6s+4o>5n,6al;8e+5s+3s,3t+
2v;3en35s32w~3ing#3l#3n#2x#2yB3mond33s,2z<3ione#3or+1bP2iC1cP1d|1e~2a#3ch+5ed+6s+5ing+4t>5ed+5ing+6on;8s+6ve;5or+7s+5s
+3d~4able+4er>6s+4ily+5ness+6g>7s+4me&4only+4s+4y>3gan33l_4ise+7d+6m+6tic+5ties+6y;5z+6ar+7tion+6e+7d+7s+6ing+4ly>4m;5
ente+5s+3m(3p+3r;4r+3s#4on>6able+9y+6ing+6s+4s+3t#4e#5d#4ment#2b<3be#3ecca34l;5l+6ion+5s+3oot+4und+7s+3uild+7ing+6t+2c
_3all+6ed+6s+4ted#3e,4ipt+5ve=7d=7r=8s+7s+6ing+4nt=6ly=4pt+6ion;6or+8s+4ss+6ion+3harge+4erche+4t,3ib+4p+5e>6s,5ient+9s
+3k,3l+4aim+3o+4gn.6ise+9d+7tion;7zable+8e+9d+9s+8ing+4m+5end+5m+6end=9ation+es+9ed+9s+4n+5c+6ile+8iation+5sider+6truc
t+bion+4rd>6ed+7r+6ing=9s+6s>4unt+4ver+7ed+7ing+7y;3re+5ate+7ion;aal+4u+5it+7ed+7ing+7ment+7s+3tB4angle=9s+7ular+4ion#
3uper+4rrence+8t+6ing+5s+6ion+7ve+9ly+6os+3ycle+7d+6ing+2d~3e;4mption+4s+5ign+3i#4ct#4ent#7s#4rect>8ed+4s>5tribution+4
t#3o#3s33u+4ce.6d+6r-6s+5ing+5tion;9s+4nd+6ant+4x#2e(3d33f+3k#3l+3ment#3n(3s#3t#3ze#2f~3er>5e+6e+6nce>9d+9s>8ing+7dum+
5ral+6ed+6ing+5s+3in+5e+6d+6ment+5ing+4x&3lect;7ed+7ing+8on;as+8ve+7s+5x+3orm;6s+3rain+4esh>7ing+4iger+8ator+3uge;6e+7
s+4nd+4rb+4sal+5e+6d+6s+5ing+2g~3ain+4rd+6ed+6ing;6less;6s+3eneration+4x>3ime+6n+7t;6s+4na34on>6al;6s;4st,6er>8ed>8ing
+8s+6rar+8tion>7o+7y>3on#3ression=5t+3ul+5ar>7ly+6te+8d+7ing+8on;as;7or+9s+9y+2habilitation+3e+4ars+2i#3b#4en#4ung#3ch
43d33gn+3n;4force+9d+9ment+4terpret+3ra#2ject+6ed+6ing+7on+6s+3o+2k,2l>3acion+6ón+4te+6d>6s+5ing+6on>8al+8s<9hip>cs+6v
+7e>8ly+8s+4x+5ation+5ed+5ing+4y;3e+4ase>7d=7s+6ing+4g+4nt+4v+5ance+7t+3i+4ability+6le+7y+5nce+4e+5d+5f;5s+5ve+7d+4g+5
ion;8s+7us;3l#3oad+4cated+7ion+3s#3uct+6ant+3y+4ing+2m_3ain+6der+6ed+6ing,6s+4ke+4rk.6able+9y+6ed+6s,3e#4d+5ies+5y+4mb
er>8ed+8ing+8s+4nt#3ind+6ed+7r+6ing+6s+5is+7cent+3nants+3odel+7ing+4t+5e>6ly+4vable+6l;5e>6d+6s+5ing+3pl+2n>3a44issanc
e34l,4me,6d+4ult33ce#4h#4ontre+3d,4er>6ed+7r$6ing+6s+5z+3e#4w;5able+6l+5ed+3o44v+5ated+7ion+4wned+3t<4al+4ed+2on#3pene
d+2p>3air;6ed+6ing+6s+4r+4y+3e+4at>6ed+8ly+6ing+6s+4rc+5toire+4t+5ition+8ve+3l+4ace>7d+7ment+bs+7s+6ing+5y+4en+4ic+6a+
7te+9d+8ion+5ed+6s+4y>3o.4rt>6ed+8ly+7r;8s+6ing;6s=4s+5itories+9y>3r,4esent<9ation+es+cve;es;9ed,9ing+9s+6sion+4o+5du+
7ce+9d+8tion+ave+4és+3t+3ublic=8an5as34t+5ation+2q.3u,4ency#5r+5stB7ed+7ing+7s-4ireL7d>7ment+bs;7s,6ing+5s+2r,2s~3a#3c
+4ue;6d+3e#4arch=8ed+9r+as;8ing+4mblance+7e+8s+7ing+4nt+6ment+4rv+6ation;bs+6e;7d+7s+6oir+4t>3h,4ape#4old#3id+5e+6nce+
8y+7t,8ial+8s+6s+5ing+5ual+6e+7s+4gn+6ation+6ed+4lience+8t+4n+4st+6ance;8t+6ed+6ing+6or+4ze+3o#4lution=as+5ve,7d+7r-7s
+6ing+4n+5ance+4rt;4urce>8s>3p.4ect,7able+7ed+7ive+aly+7s+4ir+6atory+4ond<7ed+8nt+as+8r+9s+7ing+7s+6s;7able+7e>8s+7ibi
lities+dy+9le+8ve+5sta+4uesta+3s#4e#3t_4art+5ur+7ant;as+4e+5d+4ing+4o+5ration;6e+7d+6ing+4rained+8t+5ict+8ed+8ing+9on+
bs+9ve+5ucturing+4s+3ult>6ado+9s+6ed+6ing+6s_4me+6d+4rrection+2t~3a#4il;6er+8s+5n+6ed+6ing+6s+4liation+4rd+3ch#5ed#3en
tion+3ire+6d+6ment+5ing+3our+3reat+4ie36val+7e;8d;7ing+4o+5fit+5spect+aive+3s#3t#4e#3urn_6ed+6ing+6s>2u#3n+4ion+5ted+3
sable+4e+5d+3ters32v>3e+4al+6ed+6ing+6s+4l;5ation+4n+5ge+5ue;7s+4r+5s+6al+6e>7d+6ing+5t+3iew>6ed+7r+8s+6ing+6s=4s+5ed+
5ion=8s+4tal+4val+5e+6d+3olt+5ution;aary;2w.3ard+6ed+6ing+6s+3rite+6ten+2x42y43es33n34olds32z,1fP2cC1gP2bP3a+1h~2e;3t+
4oric+2o#3de35s32s+2yth+5m+1i|2a#3d#3ge#5s#3l#3n#4s#3s#2b<3bon+3le#3s+2c<3a44l#4ne#6s#4rdo33e<4s#3h>4ard57s38on34er+5s
+4mond34t<5ig+3ing#3k44y33o43s#3ular#5um#2d<3ay#3e<4r;5s+4s,3ge<3iculous+4ng+2e#3b#4en#3d#3l#3n,4d#5ly#5s#4t#3r#4s#3s,
3t#2f+3le;5s+3t#2g<3er#3ht_5arrow%5eous+5ly+5s;3id+3or+5ous+2j,2k#3a#3e#2l#3ey32m<3inal#2n<3a#3e#3g>4ing+4s;2o43r#4ity
#4s#3s#3t+4s+2p<3e,3ped+4le+2que#2r#2s<3e<4n+4s+3ing;3k;4s+4y+3t#2t<3a34ble#3e#4r#5ia#6on#5s#4s#3ic#5al#4ng#4on#4s#3o#
3t#4en#3ual+6s+3z#2um#2v<3al+5ry+5s+3e#4r<5a35s;6ide32x#2z#2ère#1jC1kH1lH1mP2sC1nH2aG2e#1o~2ad>4s,3r+2b>3bery+4ie33e+4
rt56o36s37on34s+3in55son33ot>5ic+5s+3ust+2c(3h34ester33k>4et;6s+4ing+4s;4y;2d>3e+3gers33ney33rig36o36uez33s+3u#4ction#
2e#2g43ate#3en#4r55s32h32iK3d#3t#2k#3e#3u+2l@3and33e>4s>4um#3lB4ed,5r,6s#4ing<4s;2m~3a44n>5ce;5ia37n35s35tic+3e44o34ro
33ise#3ney33pt#2n63ald33e#4s#3g#3ic#3s#3t#3ym#2of+4s+3kie+3m>4s<3sevelt33t>4ed+4s<2p(3a#3e+4s+3h#4e#4ic#4y#3ic#5al#3ol
is#6tan#3ri#3s#3y#2r#3s#2s~3a33e>4n34s+3is#3s44e#4i34o#5ver#3t#4er+2t>3ary+4te,6d+5ing+6on>8s+3e#3h33or+3t#2u<3ge34h<5
ly+5t#3nd>5ed,5ing+5s+3p#4e#3s#3t+4e>5d+5r>6s+5s>4ine,7ly+7s+6g-2v#3e#4r35s#2wB3ave#3ing#3n#4ed#4ing#3s.4e#5r#3th#2x42
y<3al=5s35ty+2z,3en#1pH2gC2mK1rP1s~2aC2sC1tP1u<2b<3bed+5r+4ing+3y=2d<3e+2e;2g<3by;3ged+2in+4ed+4s+3t#2k#2le>4d+4r+5s+4
s>3ing+2m<3or+5s+2n~3d+3nable34er=6s+4ing>3off+3s;3time>3way+2p#3t,4ion#2ral;2s<3h;4ed+4ing+3s=4ell34ia56n57s33t<2t<3h
;2z#1vH1wD2anda31x~2js#1y@2an62ing#2n#2pt#4ed#4ion#4o#2s#1z#2e#1á,2p+1é<2al+2g+2pond+2s+1ówn+4ież+1ück30s>1a~2at+2b=3e
+4r+3ot+2c;3h34s33k+4s+3r+4amento34ed;4ific+8e+9d+9s+2d;3d34am34le+3ly+3ness+2f;3ari33e>4ly+4r+4ty;2g;3a;3e;4n+3t+2h32
i;3d;3l;4ed+4ing+4ors+3nt=5s;3s+2ja+2k;3e+2l>3a+4d+4h+4ries+5y-3e=4m34s>3ly33mon;3on;3t=4s+3ud+4te+3v;4ador35ge+5tion+
2m_3a+4ntha33e>3p+4le>6d+6r+6s;5ing+3sung33t+3uel32n>3chez34t;5ion+8ed+8s+5uary;3d=4ers34ra34s;4wich+4y;3e+3g;4at+3it+
5ation+5y+3k+3s;3t;4a54iago34o35s34é+2pK2r[3a34h53c+3e+3k32sS3k34atchewan32t_3an33ellite;9s+3isf+6action+9ory+6ied+8s+
6y+7ing+3u+4rated+7ion+5day55n32u;3ce+3d34i33l33nders32v;3age;4nnah33e>4d=4s+3ing+6s+3oir+2w;2x;2y>3a+3ing+3s+1bP1c~2a
ff+3l+4a;5ble+5r+4e>5d+5s+4ing+4p+3n>4d+5al+4f,4ned+6r=5ing+4s+3r<4c+5e+4e+5d+4s+4y+3tter+7ed+7ing+2en+4ario=8s+4e>5ry
+5s+4t+3pt+2h>3e;4dule=8d+8r+8s+7ing+4ma>6tic+5e=6s+3izophrenia+3l33midt33n;4eider35ll+3olar;7ly+7s+8hip+4n+4ol>6ing+6
s;3ul35tz33w;4ar36tz34e32i;3ence=7s;5t;6ific;7st+9s+2o[3p+4e>3r+4e>5d+5r+5s;4ing+3t34ia34land34s34t55ish33ut;5s32r,3am
bled+4p+5e+4tch+3e+4am+6ed+6ing+6s+4en>6ed+6ing;6s+7hot+4w+5ed+5s+3ibe#6r#4pt>6ing+7on#9s#6s,6ure33oll>6ing+3ub+4t+5in
+7y+2ulpt+6ure+9s+1dP2kC2l&1e~2a_3b+3l;4ed+4ing+4s+3m+4less+3n53rch>6ed+7s+6ing+3s+4on>6al+6s;3t<4ed+4ing+4s+4tle33w+2
bagai+4stian32c~3ara+3ond>6ary>6ly36s.3re+5cy+5t>6ary;6ly+6s;3t+4ion>7s;4or;6s+3ular+4re>6d+6ly+5ing+6ties;7y>2d<3an+3
iment+2eB3d>4er$4s+3ing;3k<4ing+4s+3m+4ed+4ing+7ly+4s;3n<3s+2g>3ment>7ation+7s+3reg+6ation+3ue+4ir+4nda+6o+4ridad+5o+3
ún+2hen,3r+2i,3n,4e+5m+5n+5r+3smic+3t+4e33z+4e+5d+4ure+7s+2ja+2k<3s+2l>3bst+3dom+3e+4ct~6ed>6ing+7on>9s+7ve+6or.6s+4ni
um+3f>4ish+3l;4er,6s+4ing+4s+3on+3v+2m_3aine+4na+5tic+8s+3en+4ster+3i;4nar+3pre+3ua+2n>3al#4te35or;7s;3d>4er.4ing+4o+4
s+3ior=6s+3s;4ation+9s+4e;5s+4ible+5ng+5t+6ive+8ity+4or=6s+6y+4ual+3t>4ence+8d+8s+4ido+5ment+9s+5r+3za+2oC3ul32p>3ar=5
at+7e+8d+8ly+8s+7ing+8on+7or+3erti+3t;4ember52q~3u<4el+5nce>8s,7ing+6t#7ial;7ly#2r_3a+3bia33g34e35ant34io33ial>6izable
38e-9r-4e;5s>4ous+7ly+3mon+3ont+4tonin+3um+3v>4ant+7s+4e,5d+5rB6s+5s+4i+5ce>7s>6io+8s+5ng+4let54o+3á+2s<3s+4ionB7s;2t~
3h33s>3t,4er$4ing>7s>4le+6d+6ment;as+6rs+5ing+3up>2u+3d#4o#3l+4ement+3s+2ven=5t;6h;6y+4r;5al=5e+6ly+5ity+2w;3age+3ing+
2x>3es+3ual<6ity+6ly+3y+2y42ñ+1fP1gP1h~2a~3de+5r$5s+4ing+4ow>6s;3ft+3h33ke,5n+5s+6peare34ing+3ll+5ow+3m;4e+3n34e34ghai
34non33pe>5d+5s+4ing+3r;4e>5d>5holders+5s+4ing;4k+5s34ma34on34p>5en+5ly+3ttered+3w44n33y32e>3ar+3d+3ep+4r+4t>5s;3ffiel
d33ikh33l;4by34don34f+4l>5s+4ter+7s+4ves+3n33pherd33r=4iff34lock34man32i43eld<6s;3ft>5ed+5ing+5s+3m33n34e,4ing+4y+3p>4
ment+4ped+5ing=4s+3r34e#4ley34t+5s+2o;3ck;5ed+5ing+5s+3e+4s+3ok+4t;5er+5ing+5s+3p>4ping=4s+3re<5s+4t>5age+8s+5comings+
6ut+5en+7ed+6r+6st+5ly;5s+3t>4gun+4s,3uld>6er+8s+6n+4t+5ed+5ing+3w>4c+5ase+4ed+5r+4ing+4n,4s;2r+3imp+4ne+5k+3ugged+2uf
fle+7d+3t+4down+4ter+5ing+5le+2y+1i~2a+2ber33ling+7s+2c<3h+4er;3k+4ness+2d<3e>4bar,4s+4walk+6ys+3ney33o+2e>3ge+3mpre+3
rra33ve+2g_3h+4t+5s+3ma>3n>4al>6ed+6ing+6s+5ture=9s+4ed-4ific+8a+9nce+at+bly+7es+5ng+4s+3u+4iente+2k;2l_3ence;5t;6ly+3
houette+3ica+5on;7e+3k;3ly+3va34er=2m_3ilar>7ities+9y+7ly=3mons33on53pl+5e>6ment+6r+6s+7t+5icity+6fied+7y+5y;4son33s33
ul+5ate+8d+7ion;as+7or+5t+6aneous+cly+2n>3ai33c+4e>5r+6e+4lair33d+3e+3g=4apore34er;6s+4h34ing+4le>6s;6ton=4s+4ular+3k+
4ing+4s+3o+4n+3s+3t+3us+2pK2r=3ius32s+3t+4em+6a;5r;6s;2t<3e>4s;3io+3o+3s+3ting+3u+4ación+5ted+6ion;9s+2x>3teen+4h;4y+2
ze_4d;4of,4s+2ę+1jK1k~2al+3te+4ing+2e;3letal+6on+3pt+5ic+7al+3tch+6es+3w+2i<3es+3ing+3ll>5ed+5s>3m+3n>4s+3p>4ped+5ing+
3rt+5s#2learn+2u#3ll+5e+2y>1l~2a+3b+3ck+3g+3m34med+3p+4ped+3sh,3te+3ughter+3ve;5ry+5s+2e+3ep>5ing+4ve+6s+3nder+3pt+2ic
+4e.5d+5s+4k+3d+4e>5r-5s+4ing+3ght+6est+6ly+3m;3p+4ped+5ing+4s+3t+2og+4an+3pe+5s+3t>4s+3vak34en36ia33w>4ed+5r+4ing+4ly
+2ug,3t+1m~2all>5er+6st+3rt=5phone+as+3shed+2ell+5s+2ile+5d+5s+4ing+3th62o+3ke;5d+5rs+4ing+3oth+6ing+6ly+3uth#2sC1n~2a
ck+5s+3ke;5s+3p;4ped+4shot-2e+3ak+2iff+3ppet+2ow=2pC2yder31o~2aked+3p+2b;3er+3ie+3re+2c[3cer;3i;4al>6e+7s+6ism+8t;6ly+
4etal+6ies+6y;4o+5logy+4été+3k+4et>6s+4s+2d+3a+3ium+2ever#2f33a+3ia33t>4er+4ly+4ware>2g+3ar+2il;4s+3r+3t+2l_3ar;3d=4er
+4ier;7s;3e<4ly+4mn+3ic+5it+4d>5arity+4tary+3l+4te+6n+3o;4mon33ution>8s;3ve+5d+5nt+5r+5s+4ing+2m>3a+4lia33e>4body+4day
+4how+4one=4rset34thing>5ime+8s>4what+6ere+3mes+2nB3d+4ern+3g>4s;3ic33o+3s;3t+3y32on>4er+2p+3h;4ia35e35sticated+2r;3e+
3row+4y=3t>4ed.4ing+4s+2s+3t+2u;3ght+3l;4s+3nd>5ed+5ing+5s=5track+3p-3r+4ceB6d+6s=3s+3t+4h=5ampton35east;6rn;5west;3ve
nt+2v33ere+6ign+9ty+3iet32w+3ie+2x32y;1p~2a;3ce>5craft+5d+5r+5s+4ing+5ous+3in53m+3n>4ish54ning+4s+3r34e+5d+4k;5ed+5lin
g+4se+4t33t+4ial;3wn+5ed+2dC2e_3ak+5er;7s+5ing;5s+4r+3c>4ial_7ist;as+8zation+9ed+7ly+7ty+5es>5fic>8ally;9tion;ds+8ity+
8s+7ed+8s+6y+7ing+5men+8s+4s+4t;5acle+7ular+6tors+5ra+7l+6um;4ulate+9d+8ion+9ve+3ech=6es+4d>5s+3l+4l;5ed+5ing+5s+3ncer
34d;5ing+5s+4t+3r+4m+2h+3ere-6s+5ical+2iK3ces+3der;3el33ke;5s+3ll+5ed+3n>4al+4e+4ner+5ing+4s+3r;4al+4it;6s+6ual;9ity+3
t+4e+2l;3ash+3endid+3it>5s+5ting+2o;3iled+3ke+5n,5s+6man+6person+3nge+4s+5or+7ed+7s+8hip+4t+5aneous+3on+3r+4t=5ing;5s=
3s+3t>4ify34light+4s+4ted+3use+2r[3aw+4y+5ed+3e+4ad=6ing+6s+7heet+3ing>6er36field36s;5k+5t;6f+4te-2un+3r+4s32y;2éc+4ia
l+1qL2l~2rt,2u;3ad;5ron34re>6d+6s+3e+4eze+7d+3ir+1r|2c.2i31sP2dC2eC2hL2lH2on#1t~2a<3at+3b,4bed+4il+6ity+7ze+4le,3ck>5e
d+5ing+5s+3d#4ium;4t43ff>5ord33g,4e>5d+5s+4ger+4ing+4n+3in+5ed+5less+5s+4r+5case+5s,3ke+5holders+5s+3le+4in34k+4l;5ed+
3m34p-5s+3n>4bul#4ce,6s#4d>5alone+6rd>8ized+8s;5by+5ing<8s+5point+5s+4ford34ley34t#3p+4le+3r_4ch+4e+5d+4ing+4k;4r35ed+
5ing+4s>4t~5ed=6r+5ing>5s+5up+4vation+3sy#3t~4e_5d+5ment>9s+5s>5wide+4ic>6method#5ng+5on>7ary+7ed+7s+5st+7ic+9al;bly+9
s=4o+4s>4t+4ue+6s+5re+5s_5te+7s+6ory+3v+3w#3y=4ed+4ing+4s+2d_3in+4o#3lib#3out+2e>3ad,5ily+5y,4l+5ing+5s+4m;3d#3el;5e36
rs34p+4r+5ing+3f34an33hen+4t+3in43ll#5a36r+5en,5ung#3m04ming+4s+3n#3p>4h35an37ie35en57s34ped+5ing+4s>3r@4dam#4e+5o+6ty
pes+4il+4ling34n;4oid+7s+4reich#4s#3ve55n56s33w+4ard+6t32ick<5ing+5s+5y+3ff+5ness+3gma+3ll>3m;4ulate+8ing+9on+6i+6us+3
ng+4t+3p+3r;4red+5ing+3t#4ch+4ial#4ute#6ion#2m&3t#2o<3ck>5holm35s+3le+5n+3m+4ach+3n#4e>5s<3od,4l+3p>4ped+5ing+4s+3r+4a
ge>4e>5d+5s;4ies;5ng+4m>5s+4y>5line+5telling+3ve+3wn#2r~3a64ct#4ight;8forward+5n+6ed+6s+4l#4nd;6ed+6s+5g+6e;7ly+7r+8s+
4p,5s+4t;5e#6g;7ic;8es;7y=5ion#4w;4y+3e<4ak+5m>6ing;6s+4et>6s;4ngth=8en+aed+aing+8s+4ss;6ed+7s+6ful+4t+5ch+7ed+8s+7ing
+3i+4ct<6ly+4de+6s+4ke;6r+6s+5ing+4ngB6ent+6s>4p>5e+6s+5ped+6ing+5s+4ve+3len+3o+4ke>6s+4m#4n+5g>6er+7st+6ly+3uck+5t>6o
r#6ural;8e>9d,9s;4gg+6le+8d+8s+7ing+4ment#2s#2u,3art33b+4born+3ck+3d]4ent>7s>4ied+6s;5o>6s;4y=5ing+3ff<5ed+3mbled+3nne
d+5ing+4t+3pid+2y,3l+4e>5d.5s>6heet#4ing+2änd#2ør+1u~2a+3s+2b_3class+3division+3ject>7ed+7ive+7s;3lime+3mar+6ine+4issi
on;as+5t>6ted+7ing+3net+3ordinate+3s+4cribe.9r+as+7ption=cs+4ection,5qu+7ent+aly+5t,6eq#6s+4id+6i+7ary+7es+4t+5ance+9s
+7t+8ial+bly+9ve+5it+7ute+ad+9ion+5r+6ate+6ing+4ystem+3t+4itle+4le+4ract+8ion+4ype+3urb+6an+6s+3view$3way+2c+3c+4eed+7
ed+7ing+7s+5s+6s>7es+7ful=aly+7ion+8ve+7or+9s+3h>3k+4ed+4ing+2d;3ah+4n33den+6ly;3o,2e;3d+2f+3f;4er+6ed+6ing+6s+4ice+6i
ent+aly+5x+2g+3ar;5s+3gest+7ed+7ing+8on+as+7s+2ic+4idal+6e+3s+3t+4able+4e>5d+5s+4s+3v+2jet+2k32l;3f+4ur+3la+4ivan33tan
32m~3a+3m+4ar+6ies+7ze+9d+6y>4ed+5r=4it;4on+6ed+3s+2n>3d;4ay56s33g;3k+3light+3ny;3set;4hine;3t+2o+2p>3er_5b+5ficial+5h
ero+5intendent36or;8ity+5man37rket+5natural+5s+5vised+8ion+8or+as+3plement;aal+btion+as+5ied+7r=8s+7s+5y;6ing+4ort>7ed
>8r+9s+7ing;8ve+7s+5se+7d+8ly+4ress+8ed+8ion+3ra+4em+6acy+6e;2r>3e=4ly;3f+4ace>7s+3g+4e+5on+7s+5ries+6y;4ical;3name+3p
ass+7ed+4lus+4r+5ise+8d+8s+7ing+aly+3real+5nder+9ed+5y34ogate+5und+8ed+8ing+bs+8s+3tout+3v+4e+5illance;5y=6ed+6s+4iv+6
al;6e+7d+6ing+6or+8s+2s=3an33cept+7ible+3p+4ect+7ed+7s+5nd+7ed+6sion+4icion+9s+8us+3sex33t+4ain+7ability+9le;7ed+2t+3t
on32vC2z33uki31v|2gD1w~2allow+7ed+3mp+3n33p.4ped+3y+2e;3ar+4t+5er+3den34ish33ep+5ing+4t=3ll+5ing+3pt+3r#4s#2ift=5ly+3m
+4ming;3ng;5ing+5s+3pe+3ss33tch>6ed+7s+6ing+4zerland32o+3llen+3rd;5s+4n+4th#2ung+1x+1y~2dney32ll+3v32m>3b+4ol>6ic+6s+3
fony33metric+7y+3path+7etic+7y+4hony34osium34t+5om+7s;2n>3c>4hron+8ization+aed+8ous+3d;4rome;3onym+7ous+3tax=4h+5es+7i
s+6tic+2racuse33ia35n33up+2s>3t+4em_6atic+aally+6ic+6s=4ème+1z<2cz+2er+1ão;1ä+1å+1é;2curité+2rie+1í+1ó+2lo+1ø+1û+1ü31ă
+1ą+1ł+0t>1a~2b>3la+4e~5au+5s=5t+6s+3s+2c;3k+4le+6s+3t+4ic+6al+6s+2d+2g_3e33ged+3s>2h33un+2i=3l>4le+4or+6ed+4s+3n#3re#
3wan32j32k;3e>4n=4over+4s;3ing=3że+2l<3e;4nt;6ed+6s+4s;3iban33k>4ed+4ing;4s+3l;4er+4y+2m;3b;4ién+4ém+3il33p+4a32n>3d+4
em+3g;4ent+4ible+3k;4s+3t,4o+3z34ania32o32p>3e+4r+4s+3ped+4ing+3s+2r>3a33d+4e+3get>6ed+6ing+6s+3t;2s<3k>4ed+4s>3t+4e+5
d+5s+2t<3e33to+5o+2u,3ght+2x>3a+4tion+3es+3i+3onomy+2y33lor51bP2l+2ody#1cP2pG1dP1e~2a;3ch+5er>7s;6s+5ing;8s+3m>4ed+4ma
te+8s+4s=3r+4ing+4s+3s+4ed+4ing+2c#3h>4n>5ical;9ly+7ian+as+6que;9s;5ological+aes;9y;3n+2d>3dy33ious+2e,3n<4age+7r+8s+4
s+4th#3th+2g+3en+3o+2hran32il<3n#2j+2k>3st+2l>3ah+3e>4com37munications+4fon+4gram;7ph34phone+4sc+6ope+4vision;3l=4ing+
4s+2m|3a+3p>4er;6ament+7ture>bs+4l;5ate>8s+5e;6s+4o+5r+6al+7rily+8y;4s,4t+5ation+5ed+5ing+2n>3ant,6s+3d+4ed+5ncies+7y+
5r+4s+3emos+4r+4ss#3g+3n34essee34is;3s+4e+4ion+7s+4or=3t;4ative+4h+4s+3ure+2r~3a#3dam#3e#4d#4sa33ior#3m>4ed+4in,6al<8s
+7te+9d+8ing+9on+6ology+4s>3n04al#3r;4a<5ce+5form#5in+4ible+7y+5fied+6ying+5torial+9es+8y;4or;6ism+8t+9s+4y33s#4ebut+3
y#2s<3la33t~4ament;4e+5d+5r+4ified+6y+5m+6on+8y+5ng>4osterone+4s>3y#2t<2x>3as53t_4area#4book+8s+4e+4ile+4o+4s+4ual+5re
=7s+2ż+1fP1gG1h~2a,3i34land33l#3n>4k=5ed+5ful+5s>6giving33t_4s+2e~3ad#4t+5er;7s+5re;6ical+3ft+3ir>5s+3less#3m;4a34e>5s
+4selves+3n_3odore34logical+7y+4r+5em+6t+7ical+bly+5ies+5y;3r44ap+6eutic+6ies+7st+9s+6y;4e>5after+5by+5fore=5in+5of+5s
a34m;5al<4s#3se>4is+4t#3ta.3y>2i;3ck+5er+5ness+3ef+3gh+5s+3n;4g<5s=4k>5ers+5ing;5s+4ner+3rd>4st+4teen+5y;3s_2o+3m34as5
4pson34son33n#3od#3r;4a#4n35ton34ough+8ly+3se>3u+4gh>6t;7ful+7s+4sand;8s+5e#2r;3ead>6ed+6ing+6s+5t+6en+8ed+8ing+8s+6s+
4e_4n#4shold.9s+4w+3illed+7r+4ve+3o+4at+4ne+4ttle+4ugh>7out=7put+4w>5ing+5n+5s,3ust+2u=3mb,5nail,5s+3nder;3r44sday53s>
2wart+2y<3roid+2ành+2é+1i~2an32b33et35an32c#3k-4et=6s+4s+2d,3ak+3e+2e;3d+3mpo+3ne+5n+3r;4s+3s,2ffany32ger;5s33ht+5enin
g+6r+5ly+2jd+2k32l<3e=4s+3l;3t+2m>3ber;3e~4d+4line;5y+4out-4r>4s>5tamp.3ing+3othy32n;3a33g,4s#3t+3y<2on#2p>3o;4s+3ped+
3s;2r+3e+4d+4s+2ssue+6s+2t<3an35ium+5s33le>5d+5s+3re+1jK1kP1lP2sC1mP2l#2p,1nH1o~2ast=2b;3acco+3er#3y32c+2d;3a+4s+4y>3d
;3o~4s=2e+3s+2g+3ether;3gle.2ile+5t+2k>3en>5izer$5s-3yo32l<3d+3edo34r+5ance+7t+6te+8d+3l+2m>3ar+4to+6es+3b;3my33orrow;
2nB3e;4s+3g;4ue+3ight;3nes+3s,3y52o>3k+3l>4bar+4s>3th+2p~3ic>5al+5s+3ology+3ped+3s+2rB3ah33ch+3e+3ment+3n+4ado+3onto53
que+3rent+5s33so+3t;4ure+7d+2s43s+4ed+2t>3al>5ly+5s+3tenham32u;3ch>5down+9s+5ed+6s+5ing+3gh+5ness+3jours+3r>4ing+5sm;6
t+7s+4nament;as+4s;3s+3t+4e+5s+2w;3ard+6s+3el+4r;5s;3n>4s+5hip32x+3ic+5ity+4ns+2y=3ota33s+1pP1r~2a>3b+4aj+6o+5l+6ho+3c
e>5d+5r+5s+4ing+4k>5ed+6r-5ing=5s+4t+5ion+5or+4y33d;4e>5d+5mark+5r+6s+5s+4ing;5tion+9al;bly+9s+3ff+5ic;7king+3g+4ed+6y
+4ic+3il;5er+5ing+5s+4n>5ed+6r;7s+5ing>5s+4t+5s+3jectory+3m+3n;4qu+6il+4s>5action>bal$bs=5c+6end+6ript+aion+as+5f+6er>
8red+9ing+8s+6orm>9ation;es+9ed+ar-9ing+9s+5gender+5ient+6t;7ion>aal+as+5l+6ate.9d+9s+8ing+9on=bs+8or+5mission;7t+8ted
+ar+9ing+5parency+at+6lant+6ort>9ation;9ed+ar+9ing+9s+7se+3p;4ped+4s+3s,4h+3t+4a+3uma+6tic+3v;4a+5il+4el=6ed+7rs+6ing+
6led+7ing+6s+5rs+7e+4is34és+3y+2e>3ad+4sure;7y34t;5ed+5ies+6ng+5ment;9s+5s+5y;3e>4s;3k;3m;4end+7ous+3n+4ch+4d;5s;4t33s
+3vor32i_3al;5s;4ng+6le>8s+6ular+3b;4al+4e;5s+4unal;6e35te+3ck+5s+5y+3ed+4s+3g+4ger>7ed+7ing+7s+3llion+4ogy+3m>4med+3n
ity33o+3p=4le;4s+3umph+3vial+2l#2o<3is+3m+3ng+3op+5s+3p+4hy;4ical;3u+4ble+7d+7s+4gh+4sers+4ve+6r+3v+3y32uck;5s+3e~3ly+
3mp;3nc+5ated+4k+3st=5ed+6es+5ing+5s+3th=5s+2yB3ing;2ès+1s~2unami+1tP2e#2p#1u_2a+2b;3e.4s+3ing+2cked+5r33son32d+3o+2es
day52ition+2l;3sa32m+3or+5s+2n;3e+4d+4s+3ing+4sia33nel;6s+2o+2ple>5s+2r>3b+4ine+7s+4o;3f+3k34ey;4ish34s33moil+3n>4ed+5
r34ing;4out+5ver+4s+3tle+2s;2t;3or+5ial;8s+3te+4i+4o+1v|1w>2e;3e+4t+5s+3lve;3ntieth+5y=2ice+3light33n;4s;3st+5ed+3tter
>2o>1x~2t,1yB2ing+2ler33ko+2m+2p>3e~4d+5ef,4name,4of,4s>3ical;7ly;4ng+3ography$2r;3e+2s+3on31z#1ä+1é+2lé+1ë+1ö+1ür30u>
1aH2eC2is#2l(3a#3e#3i#3ly#2n#3t#2r#3io#3t#3y#2t#3ion#1b~2a#2ble#2e#3n#3r43s#2i#3c,3quitous+3shi#2le(3ic#4sh#6ed#7r#2re
#2s#2untu42y#1cP2cess#3i#2e#3d#3r#3s#2h#3a#4r#3e#4n#3i#3s#3t#2id#3ng#3on#5es#3ón#2k#3er#3land#3s#3y#2laC3e#4ar#2t(3ion
#4ve#1d@2a#3d#3s#2d#3er#2e#3au#3d#3n#4t#3r#3s#2ge#4t#2i#3ng#3o#2o#3s#2pC2s#2y#1eH2blo#2d#2faC2go#2il#2l#3a#3e#3le#5men
t#3s#2n#3t#2r#3do#2s#3day#3e#3t#4a#5s#4o#5s#2t#3ooth#2va#2z#1f(2act#2cC2en#2f#3icient#4x#3le#3y#2oC1g@2a#3nda33r#3s#2e
#3n#2g#3est#6ion#2h#3t#2i#3n#2ly+2o#2u#1h<2an#2r31i~2d02l#2n#3g#3t,2r#3e#2s#2t,3e#3o#3s#3y#2ção#1j#2e#2u#2ą#1k|2a#3n#2
e#2i#2o#2rain36e36ian32t#2u#1l|2a#3ire#3n#4t#3r#3s#3te#5d#5s#4ing#5on#7s#5ve#4or#6s#6y#2d#2e(3nce#4t#3r#3s#2f#2g#2i#3a
#3n#4g#3s#2k#3an#2l(3a#4h#3e#4n#3ivan#3o#3s#3y#2o#3s#3us#2p#3t#2s#3e#3ion#2tB3a#4n#3i#4mate;8ly;4ple#3on#3r;4a;5sound+
3ur#5al#5e#3y#3z#2u#3i#3m#3s#2y#1m~2a,3bly#3n#4n#3r#3s#3t#4ic#2b#3a#4i#3er#5land#3ing#3le#5d#4ing#3o#3rella+3s#2e(3d#3
n#4t(5s#3r#4ic#3s#2i#3n#4g#2m#3er#3ies#3y#2n#2o#3r#2p#3ed#3ing#3s#3tion#3y#2s#1n~2a>3ble=3cceptable+3ffected+3l#3mi#3n
#4im+6ous+9ly+3s,3uthorized+3vailable+3ware+2b+3e+3iased+2c03an#3ertain+9ties+ay+3h#4anged+4ed#3i#3le+5ar+3omfort+9abl
e+5mon+4n+5scious+5t+4ver+7ed+3t#4ion(4ure#2dB3a#4i#4y#3e,4fined,4n#4r>5go+7ing+7ne+6raduate+7ound;5line,6ying+5mine+5
neath+5s+6core+6tand+aable+aing;as+7ood+5t+6ake+9n+8ing+5water+7y+6ear+7nt+4s+5irable+3i#3le#3o,4s#4ubtedly+2e>3d#3mpl
oyed+8ment+3qual+3r#3s#3ven+3xpected;aly+2f+3air+4miliar+3inished+3old+6ed+6ing+4rtunate+bly=2g,3al#4n#3e#4n#3s#2h+3ap
py+3ealthy+2i<3code33dentified+4os33fied;4orm>7ly+7s+3k#3ng#4t+3on_5s+3qu+5e>6ly+6ness+3t>4e+5d=4s>4test+4y=3vers=7al=
9ly+7e;7idad38ties;9y=3xS2j#3ust+2k#3en#3nown>3s#2l+3aw+3e+4ss>3ike=6ly+4mited+3ock+6ed+2m+2n#3amed+3ecessary+4d#4l#4r
#3ing#2o,3fficial+3rdered#3s+2p+3ack+3leasant+3recedented+5dict+9able+2que#2re+4al+5sonable+4lated+5iable+4st+2s<3afe+
3een+4r+5e+6r+4tt+3igned,3pecified+3t+4able+3uccessful+4r+5e+2tB3a#3e#4d#4r<5nehmen35s+3il>4me#4ng#3o,4s#3s#3u#4k+2u#3
s+4ed+4ual+7ly+2ve+4iled+2w+3anted+3illing+3rap#1o#2mini+2us#1p~2a#3kan#3ten#2coming+2date~6d>6s=5ing+2er#2grade+7d+7s
+6ing+2held+2iter#2le#3oad>6ed+6ing+6s#2on>2p,3er>5case+3ort#6ed#2right+4sing+2s,3et+3ide+3tairs+4ream+2t,3ake+2unctur
e#2ward+6s+2y#3ter#1r~2a#3ble#3cy#3i#3l#4ly#3n#4ce#4ium+3r#3s#3te#4ion#7s#2b<3an<3ed#2ch#4ase#2d#2e03au#3d#3ka#3n#4t#3
r#4s#3s#2f#3ace#2g,3e+4d+4nce#6y+5t+6ly+4r#3ical#4ng+2i~3a#3dad#3es#3nary+4e+4g#3ous#3ties#4y#2l~3s$2m#2n03al#4me#2o#3
n#3pe#3s#2pose#2re#4ction#4nt(3y#2s43day#3e#3ion#4ve#3or#5s#4s#3t#2t#3her#3le#2u#3guay33s#2y#1s~2aP3bility+4le,3ge>3ha
an#3l#4em#3n#4do+3r+2bG2cD3h#2dG2e~3d>3ful+6ness+3less+3ment#3r~4content#4name.4s>3s<3um#2h(3ed#3i#4ma#4ng#2i#3c#3ness
#4g>3on#5s#3ve#3ze+2k#2o,2p#3ended#2r#2sD3ed#4n#3ia#5n#4on#6s#3rC3y#2t(3ain#3ed,4r#5ing#5s#3in#3o#4m(5ed#6r#3ral#2u,3a
l+5ly<4rio-7s+2z#1t~2a#3ble#3h33n#3r#3s#3tion#2cG3h#2down#2e(3d#3n#4ant#3r#4s#3s(3ur#2fP2h(3er#3or#2i#3l>4ise+7r+5ties
=6y>5z+6a+7ndo+7r+7tion+6e+7d+7s+6ing+4s.3ng#3on(5s#2m#3ost+2o(3r#4ial#3s#2s#3ch#5e#2t#3a#3er,5ly+3o#4n#2ure#2y#2z#1u#
2idP2r#1vP2e#2re#1w,1x(2e#1y#2e#1z,2ione#2z#3le#3y#1ção#1ży+0v>1a~2ble#2c<3ancy+5t+4tion+3c;4inated+8ion+6e+7s+3uum+2d
+2g+3ina+6l+3ue+5ly+3y+2i+3n+2k+2l~3e<4ncia35t36ine34ur+3idB5ate>8d+8s+7ing+8on>7or.5ity+3l34e35y;3or<5es+3s,3u#4able+
5te#6ion,4e_5d+5s_3ve+5s+2mos+3p+4ire+7s+2n>3a#3couver33dal+4er33essa33g#3illa+4shed+2p+3or+2r~3a+3charK3d#3i>4ability
+6le>8s>5nce+6t,7s+5tion+9s+4ed+5s+5ties+6y+4os+5us=3s,3y+4ing+2s<3cular,3ive#3t+4ly+2tD3ican34on#2ugh33lt+1bO1cH1d(1e
~2au#2c>3es+3t+4or>6s+2d<2el+2g+3a34s33et;5able+9s+6rian+6tion+2hicle>7s+2il+3n+4s+3s#2lB3oc+5ities+7y.4p#5e#3t#3vet+2
ment#6s#2nB3d+4or,6s+3e+4z35uel38a33geance+3ice34r#3om+3s#3t@4h#4il+6ation+5on#7al#7s#4ory#4ure,7s+3ue,5s,4s32rB3a34ge
#6s#3b>4al+4ose,4s+3d+4e;4ict+3e<3g;4e+3ification+6ed,5y>6ing+3k+3m34ont33n<4on33o+3s<4a+5tile+4ch+6ied+4e,5d#5s+4ion>
7s,4us+3t>4e,5d#5r#5x>4ical>8ly+6es,5ng#4s#4ure#3w+4endet+3y>3z+2s<3s+4el+6s+3t<2t,3er;5an+7s;5in+7ary+3ica#3o+3te#2ut
+2y#2z,3es+1f&1g(1h#1i~2a>3bility+4le+2b+3r+4ant+5ting+7on+9s+2c<3e;3inity+4ous+3t=4im+6s+4or36ia38n37es+7ous+6y;2d@3a
+3e,4o>5s;4r#3ia#2e<3l+4e+5n+3ne+4na33r,3t34nam37ese33wB4ed+5r+6s+4ing+4point+6rt#4s>2g;3il+3or+5ous+8ly+2iC3iC2j32k43
ing36s33tor32l<3l;4a;5ge;7rs+7s+5in+4e,2m#2n<3ce35nt33d+3e<3g#3tage+3yl+2o#3l<4ate+7d+6ing+7on+9s+4ence;6t+7ly+5t34in+
3us#5ly#2pC2r>3al+3gin=6ia33onment#3t<4ual>7ly+5e+6s+3us;5es+2s>3a;4s+3ed#3ibility>5le.6y+4on>6s,4t>5e+6d,5ing+5or-7s+
5s+3or#3ta;4o+3ual>6ization+8e+6ly+2t<3a;4l;5ity+4min;7s+3ro+2v;3e33id+3o+2z,1lL2ad34imir31mP1n(1o~2c+3ab+5ulary+4l+5s
+3ê+2i+3ce>5d+5s,3d<3r,2ke#2l_3atile+7ity+3canic+6o+3k34swagen33l+4eyball+3t;4a+5ge+3um+5e>6s+4nt+6arily+8y+6e+7er;9ed
+9s+4pt+4tion#2m+3iting+2n<2or;2r<2s,2t+3e<4d+4r+5s+4s;3ing+3re+2u+3s=2w+3el+5s+2y;3age+1pH2nC1rP2a+3iment+2e#2ij+2ou+
4wen+1s~1tH1u<2e<3l+2l;3gar+3ner+6abilities+cy+8le+1v#1w#1y,1à+1á+1ä,1æ+2re+1é,2r+1í+0w>1a|2ar+2de32g+3e+4s+3ner33on+2
h33l42ist+3t>4ed+5r+4ing=4s+2ke;3ing+2l<3d43es33k>4ed+5r34ing=4s+3l>4ace34et=4s;3sh33t34er34on32n<3d;4er;6ing+3g43na+3
t=4ed+4ing+4s+2p#2r_3d<4s,3eB4house+4n+4s#3f#4are;3m;4er+4ing+4th+3n;4ed+5r34ing>7s+4s+3p+3rant+7ed+7s+7y+4en34ior;7s;
3s;4aw33t,4o+3wick33y+3z#2s_3h;4ed+4ing+7ton53n+3s34er33te;5d+5water+4ing+2t>3ch>5ed+6s+5ing+3er>5loo35s;3kins33son33t
34s32ukee#2ve>4d+4form+4length+4s+3ing+2x+2y>3ne33s<1bH1cH1dH1e~2ak<4en+6ed+5r+4ness+8es+3lth,6y+3pon;6s+3r<4able+4ing
+4s+4y+3ther>3ver32bB3b33er33kit#3page+3site>7s+4ter32d>3ding;3ge+3nesday52ed+4s+3k>4day+4end;7s+4ly;4s+3n(3r+3t#4s#2g
<2i43gh+5ed+5ing+5t>6ed+6s,3l+3n33rd+3s#4e#4s33t#4er;6e+3ß+2l;3che+4ome=7d+6ing+3d+4ing+3fare;3l>4being+4ington34ness+
4s;3sh33t;2n<3d44ung#4y33ig+3n=3t<2r<3d+4en+3e<4n+3k,3t42s33ley33t>4ern>4minster32t;1f&1h~2ale+5s+3t>4ever>4s$5oever+2
e;3at;3el<5chair+5er35s+3n_4ever;3re~5as;5by+5in+5ver+3ther>2ich>5ever+3le>4st;3p+4ped+3sk+5ey+4per+7ed+4tle+3t34e>5s;
4ney32o~3ever+3le<5s+6ale+4ly+3m+3se+2y>1i~2ch#4tig+3k44ed+4lung#2d<3e<4ly+4r+4spread+3get>6s+3ow+3th>5s+2e>3der+3l+2f
e;3i+2g,2i32j+2k33i<4pedia32l>3d=4erness+4life;5y+3ey33l>4iam57s58on35e35ng+7ly+7ness+5s34ow33son32n~3d>4ing+4ow>6s>4s
;5or33e;4s+3g<4s;3k+3ner>6s;4ing+5peg33s;4ton33ter=2pe+4d+2r=3d+3e>4d+4less;4s+3ing+3klich+2s;3consin33dom;3e<3h;4ed+5
s+4ing+3sen+2t;3ch<3h_4d+5raw+8al+8n+6ew+4in>4out>4stand+9ing#3ness;7ed+8s+2ves+2zard;2ę,1k/1l(1mH1n#1oB2chen32hl+3n32
ke+2l33f;3l+4en+3ver35s;2man<3en=2n<3der=6ed+6ful;6ing+6s+3g33t+2o33d>4en+4s;4y33l;3rd#2r,3dB4en+4ing+4s>4t+3e+3k~4boo
k+4ed+5r>6s;4flow+5orce+4ing>4load+4out+4place+4s>5heet+6op;8s+5pace+3ld_5s;5wide;3m+4s+3n+3ried+6s+4y+5ing+3s+4e+4hip
+4t+3t#4h<5while+5y,2uld>5n+3nd+5ed+5s+2ven+2w=1pP1rP2ap.4ped+6r.5ing+4s+2eck+3st;5ling;2ight43nk+3st+3t+4e>5r>6s<5s+4
ing>7s+4ten>2ong>3te+1sR2p+2z+3yst+1tP1u42r+3de+5n+1wH2eC2w,1x,1y>2m+2n<2oming32s+1z+1ährend+2re+1ür+3de+0x>1a#2vier31
b#2ox31c#2tC1d#1e#2n;1f#2f#1i_2a43o32c#3o#2ety#2ma#3o#2n42s#2t#1lH1ml~3ns+1o#2n#2r,1pC1s,1t(1u31vC1xP2xP3x(1yP2gen#2z(
0y>1a>2hoo32k;2l#3e32m32n43g>3kees32r#3d<4s,3n+2s31c#2h#2in#2z#1d#2ro#1e<2ah=3r>4ly+4s>3st+2ct#2ll+4ed+4ing+4ow>2men32
n,2r,3s#2s~3terday+2t>1g#1i42eld+5ed+5ing+5s+2i+2ng#1k#1l#2a#3bel#3n#3tion#2e(3d#3ne#3s#2ie#2l#2on#2um#2vania#1m#2bol#
2e#3s#2i#2metric#2ph#1n#2a#3m#4ic#6s#2c#3hron#7ous#2n#2tax#3h#4esis#4ia#2y#1oB2g+3a;2n#3g32r#3k34er34shire32sh32u_3ng=
5er+6st+3r_4s+5elf;3th;5s+4ube;1p(2e(3s(2se#1r,2e#1s02es#2is#2ql#2t#3em#4r#2z#1t#2e#2h#3on#2ic#1u42an32k32n31x#1y02yy(
1z#0z>1a@2b+2ch33k32d+2hl#2k;2l+2m;2n#2p;2r<2s#2w+1b,2ek#1d,1eB2aland32ch#2d#2ich#3gt+3t<2j#2k#2l#3f+2n<3ia#4e#3t#2pt#
2r,3o>4s,2s#2t#2ug#3s32ń#1h<2ang33o32eng32ou42u31i,2a#3l#3ł#2ch+2e,3hung#3j#3l43r#2g42jn+2k#2lla#2mbabwe33mer32n#3c+3g
#2on34e#4i#2p_1k#1m,1n,2aj+1o<2e32mbie+2n#3a+3der+3e>4s+2o;3m>2s#2u+1s#1t#1u<2cker32g42m;2ng#2r;3e#3ich33ück+2sammen;1
w<2e+3i+2ischen+1y#2ch#2m#2st#2ć#1z(2a#2o#1ą#2d#1ę#1ł+0ß#1e#2n#2r#0à>1i#1ng#2h#1s+1y#0á>1b#1c#2h#1g#1k#1l#1m#1n#2d#3ez
#2y#1o#1r#2ea+2ia#3o#4s#1s#2t#1t#2ica#4o#1vel#1z#0â>1ce#1n#2cia#2d#1t#2e#0ã%1o#0ä<1ch#1d#1ft#1h#2r#1l#2l#3t#2t#1m#1n#2
d#3er#2g#3e#4r#2n#3er#1r,2e#1s#1t#2er#2t#2z#1ß#1ä#2n#0å,1n#1r,0æ,1r#0ç>1a,2s#1o#2is#2n#2s#1u#1ão#1ões#0è,1ge#1le#1me#3
s#1ne#1re#3s#1s#1te#2res#1ve#0é>1c#1d#1e#2s#1g#2alement+1k#1l,2é#1m#2ent#2on#1n#2y#1p+1r#2a#3tion#2er#2i#3c#4a#3e#4nce
#4ur#3que#2o#2é#1s,2z#1t,2ait+2é,1v+0ê,1m#2e#1n#2cia#5s#1s#1t#2e#3s+2re,0ë#1l#1r#0ì#1nh#0í.1a#2n#2s#1c#2io#2ulo#5s#1g#
1lia#1m#1n#1o#1s#2t#3icas#1t#2ica#2ulo#1v#2eis#3l#0î>1n+2t+1t#2re#0ï#0ð#0ñ#1a#2s#1o#2s#0ò#1ng#0ó.1a#1b#1d#1g#1j#1l#1m#
1n#2ico#1r#2ia#1s#1t#1w#2n#1ł#1ż#0ô#1le#1n#2g#1t#0õ#1es#0ö>1ff#1g#1k#1l#1n#1r#2t#1s#1t#1ver+0ø,1d#1r#1y#0ù#0ú.1blica#1
de#1lt+3ima+5o+6s+1n#2ico+1s#0û#1t#0ü>1ber<1ck#1h#1k#1l#1m#1n#2d#2st#1r#1ss#3en#1t#1z#0ý#0ā#0ă#1m#1ng#1r#0ą#1d#1ż#0ć#0
č,0đ>1i+0ē#0ę#1d#1p#0ě#0ğ#1i#1ı#0ī#0ı#1k#1l#1m#1n#2da#2ı#1r#1s#1z#1ş#0ł,1a#2d#1em#1o#1u#2g#1y#0ń#0ō#0ő#0œ#0ř#0ś,1ci#3e
#1li#1nie#1ć#0ş<1t#1ı#0š,1e#0ť#0ū#0ů#0ű#0ź#0ż,1e,1y#0ž,1e#0ơ#1n#0ư#0ș#1i,0ț#1i#
"""
"""Words in order: how many characters each shares with the one before, the others, its forms."""

OTHERS = r'''
␣! ␣!! ␣!= ␣!== ␣" ␣"" ␣""" ␣"") ␣"", ␣"# ␣"$ ␣"${ ␣"% ␣"' ␣"( ␣") ␣"* ␣"+ ␣", ␣"," ␣"- ␣"-- ␣". ␣"." ␣"... ␣"../
␣"../../ ␣"./ ␣"/ ␣": ␣"; ␣"< ␣"</ ␣"<< ␣"@ ␣"@/ ␣"[ ␣"\ ␣"] ␣"^ ␣"_ ␣"__ ␣"{ ␣# ␣## ␣### ␣#### ␣#[ ␣#{ ␣$ ␣$" ␣$$ ␣$(
␣$("# ␣$('# ␣$. ␣$\ ␣$_ ␣${ ␣% ␣%% ␣%. ␣& ␣&# ␣&& ␣&: ␣&= ␣' ␣'" ␣'# ␣'$ ␣'% ␣'' ␣'', ␣'( ␣') ␣'* ␣'+ ␣', ␣',' ␣'-
␣'-' ␣'. ␣'.' ␣'../ ␣'../../ ␣'../../../ ␣'./ ␣'/ ␣'/' ␣': ␣'< ␣'</ ␣'@ ␣'@/ ␣'[ ␣'\ ␣'_ ␣'__ ␣'{ ␣( ␣(! ␣(!$ ␣(" ␣(#
␣($ ␣(% ␣(%) ␣(& ␣(' ␣(( ␣((( ␣() ␣(), ␣(* ␣(** ␣(+ ␣(- ␣(. ␣(... ␣(...) ␣(/ ␣(: ␣(< ␣(= ␣(> ␣(? ␣(@ ␣([ ␣(\ ␣(_ ␣(`
␣({ ␣(~ ␣) ␣)) ␣), ␣). ␣): ␣); ␣* ␣*( ␣*) ␣** ␣*** ␣*, ␣*. ␣*/ ␣*= ␣*_ ␣+ ␣++ ␣+/- ␣+:+ ␣+= ␣, ␣- ␣-( ␣-* ␣-*- ␣--
␣--- ␣---- ␣----- ␣--> ␣-. ␣-= ␣-> ␣. ␣.. ␣... ␣..., ␣.... ␣../ ␣./ ␣.= ␣/ ␣/* ␣/** ␣/. ␣// ␣/// ␣/= ␣/> ␣/>< ␣/></
␣/\ ␣: ␣:) ␣:- ␣:: ␣:= ␣; ␣;; ␣< ␣<!-- ␣<% ␣<- ␣</ ␣<< ␣<= ␣<> ␣<? ␣= ␣=" ␣=( ␣== ␣=== ␣=> ␣> ␣>= ␣>> ␣>>> ␣? ␣?, ␣?>
␣?></ ␣?? ␣@ ␣@" ␣@@ ␣APIs ␣CDs ␣CGFloat ␣CGRect ␣GHz ␣IDs ␣IEnumerable ␣IOException ␣IPv ␣LEDs ␣MHz ␣MPs ␣NGOs ␣NSLog
␣NSString ␣PCs ␣QString ␣UIColor ␣UIImage ␣UIKit ␣UILabel ␣UIView ␣URLs ␣XCTAssert ␣[ ␣[" ␣[$ ␣[' ␣['./ ␣[( ␣[- ␣[...
␣[...] ␣[: ␣[[ ␣[] ␣[], ␣[_ ␣[` ␣[{ ␣\ ␣\" ␣\$ ␣\( ␣\\ ␣] ␣], ␣]. ␣]; ␣]]; ␣^ ␣_ ␣_( ␣_, ␣_. ␣__ ␣__(' ␣___ ␣` ␣`${
␣`. ␣`/ ␣`< ␣`` ␣``` ␣{ ␣{" ␣{$ ␣{% ␣{' ␣{( ␣{- ␣{... ␣{/* ␣{// ␣{: ␣{@ ␣{\ ␣{{ ␣{} ␣{}", ␣{}". ␣{}, ␣| ␣|= ␣|> ␣|| ␣}
␣}) ␣}). ␣}, ␣}. ␣}: ␣}; ␣}\ ␣}} ␣}}" ␣}}</ ␣~ ␣~~ ␣× ␣İ ! !! !!! !" !", !' !( !(" !) !). !, !-- !. !: !</ != ![ !\ "
"" """ "% "' "( ") ")) ")). "), "). "); "+ ", "," ",& "- "-- ". "... "/ "/> ": ":" ":[ ":{" "; "<< "=> "> ">& ">< "></
">{ ">{{ "? "\ "] "]) "], "]. "][" "_ "{ "} "}, # #!/ ## ### #### ##### ###### ######## ################
################################ #, #[ #{ $ $$ $( $, $. $/ $\ $_ ${ % %" %% %%%% %( %) %), %). %, %- %. %; %= %\ & &#
&& ' '" '' '( ') ')) ')). '), ')-> '). '); ')[ '+ ', ',$ ',' '- '. '.$ '/ ': ':' '; '=> '=>$ '=>' '> '></ '\ '] '])
'])) '], ']. ']; '][ '][' '_ '{ '} ( (! (" ("# ("% ("* (", ("," ("- (". ("../ ("./ ("/ ("< ("@ ("[ ("\ ("{ (# ($ ($"
($_ (% (& (' ('# ('% (', ('- ('. ('../ ('./ ('/ ('/', (': ('< ('[ ('\ (( ((( (() () ()) ())) ()), ()). ()); ()+ (),
()- ()-> (). ().__ (): (); ()[ ()` (){ ()} (* (*) (** (+ (- (-- (. (... (/ (: (:, (< (? (@ (@" ([ ([" ([' ([[ ([] (\
(_ (__ (` (`${ ({ ({" ({' (| ) )! )" )", )# )$ )% )& )' )', )( )) ))) ))* )), )). ))/ )); )* )*( )** )+ )+( ), )," ),(
)- )-( )-- )-> ). )... )/ )/( )// ): ); );// )< )</ )= )=( )== )=> )> )? )[ )\ )] )], )]. )^ )_ )` ){ )| )} )}, * *(
*) ** **) *** **** ******** **************** ********************************
**************************************************************** *, *- *. */ *= *> *\ + +" +' +( +) ++ ++) ++, ++. ++;
++] +, +- +. +/ +: += +\ , ," ,# ,$ ,% ,& ,' ,( ,) ,* ,** ,, ,- ,. ,... ,: ,@ ,[ ,\ ,_ - -" -$ -% -' -( -) -, -- --)
--- ---- ----- -------- ------------ ---------------- --------------------------------
---------------------------------------------------------------- --> -. -/ -> ->_ -[ -\ -_ . ." ."" .", .". ."[ .# .$
.% .' .', .( .) .), .). .* ., .- .-- .. ... ..." ...) ..., .... ..... ...... ........ ................ ...</ ../
../../ ./ .: .; .< .</ .= .[ .\ .] ._ .__ .{ / /" /"> /# /$ /${ /% /' /', /( /) /* /** /+ /, /- /. // /// ////
//////// //////////////// //////////////////////////////// /: /< /> />< /? /@ /[ /\ /_ /{ /~ : :" :", :# :$ :% :' :',
:( :) :* :** :+ :, :- :. :/ :// :: ::$ ::{ ::~ :< :</ := :@ :@" :[ :\ :\\ :] :_ :` :{ ; ;" ;"> ;">< ;"></ ;$ ;& ;) ;/
;// ;; ;< ;</ ;\ < <! <!-- <$ <' <( <- </ << <<" <<"\ <= <> <>( <? = =" ="" =""> ="# ="#" ="#"> ="$ ="${ ="- ="../
="./ ="/ ="<? ="@ ="_ ="{ ="{{ =$ =$( =${ =% =& =' ='" =', ='/ =( =- =. =/ =< == ==" ==' === ==== ========
================ ================================ => =? =[ =[" =[' =\ =\" =_ =` ={ ={" ={' ={( ={() ={< ={` ={{ > >"
>$ >& >' >( >(" >() >(). >) >* >, >- >. >/ >: >:: >< ><!-- ></ ><? >= >> >>> >[ >\ >` >{ >{{ ? ?! ?" ?", ?' ?( ?) ?),
?). ?, ?. ?: ?</ ?> ?? @ @" @@ GHz IBOutlet IDs IOException MHz NSString UIColor UIImage [ [" [$ [' [( [* [, [- [: [:,
[:- [@ [[ [\ [] []) [], []> [][] []{ [_ [{ \ \" \", \": \' \( \) \- \. \/ \[ \\ \_ ] ]" ]", ]( ]) ])) ]), ]). ]); ]*
]** ]+ ], ],[ ]- ]-> ]. ].[ ]/ ]: ]; ]< ]= ]== ]> ][ ][" ][' ]\ ]] ]], ]]. ]][ ]{ ]} ^ ^( ^- ^. ^\ ^^ ^{ _ _" _' _( _)
_), _, _- _-> _. _: _; _[ _\ _] __ __( __, __. ___ ____ ________ _{ ` `) `, `,` `. `.` `: `` ``` { {" {$ {% {' {- {\
{{ {| {} {}, | |\ || } }" }", }". }$ }& }' }', }( }) })( })) }), }). }); }, },{ }- }. }/ }/${ }// }/{ }: }; }< }</ }=
}> }>{ }[ }\ }] }_ }_{ }` }{ }| }} }}" }}, }}</ }}{{ }}} ~ ~/ ~~ × İ
␣α ␣β ␣γ ␣δ ␣ε ␣κ ␣λ ␣μ ␣π ␣σ ␣τ ␣А ␣Б ␣В ␣Вы ␣Г ␣Д ␣Е
␣Если ␣З ␣И ␣К ␣М ␣Н ␣О ␣П ␣Р ␣С ␣Т ␣У ␣Ф ␣а ␣ав ␣б ␣баз
␣буд ␣будет ␣бы ␣быть ␣в ␣вер ␣вид ␣врем ␣вс ␣все ␣вы ␣выб
␣вып ␣г ␣д ␣данны ␣данные ␣данных ␣дв ␣для ␣до ␣добав
␣долж ␣дост ␣е ␣его ␣если ␣ж ␣з ␣за ␣заг ␣зад ␣зак ␣зап
␣запис ␣запрос ␣знач ␣значение ␣и ␣иг ␣из ␣измен ␣или ␣им
␣ин ␣исп ␣к ␣как ␣кл ␣класс ␣код ␣кол ␣ком ␣комп ␣кон
␣конт ␣кор ␣котор ␣л ␣ли ␣м ␣массив ␣мен ␣метод ␣мод ␣мож
␣может ␣н ␣на ␣нач ␣не ␣нет ␣нов ␣номер ␣нуж ␣о ␣об ␣объ
␣объект ␣од ␣ок ␣оп ␣от ␣п ␣пар ␣парамет ␣пер ␣перв ␣перед
␣перем ␣по ␣под ␣пол ␣получ ␣пользоват ␣пользователя ␣пом
␣посл ␣пр ␣прав ␣пред ␣при ␣про ␣пров ␣провер ␣р ␣работ
␣раз ␣рас ␣с ␣св ␣сер ␣симв ␣ск ␣сл ␣со ␣созд ␣сообщ ␣спис
␣список ␣ст ␣стр ␣страниц ␣строк ␣т ␣таблиц ␣так ␣тек
␣текст ␣тип ␣то ␣товар ␣только ␣у ␣удал ␣указ ␣ф ␣фай
␣файл ␣файла ␣форм ␣функци ␣х ␣ц ␣ч ␣чис ␣число ␣чт ␣что
␣ш ␣э ␣элемент ␣эт ␣это ␣я ␣א ␣ה ␣ל ␣أ ␣ا ␣ال ␣الم ␣ب ␣ت
␣ح ␣خ ␣د ␣در ␣ر ␣س ␣ش ␣ع ␣ف ␣في ␣ق ␣ل ␣م ␣من ␣ن ␣ه ␣و ␣ي
␣ک ␣क ␣स ␣– ␣— ␣― ␣‘ ␣’ ␣“ ␣” ␣„ ␣• ␣… ␣› ␣€ ␣← ␣↑ ␣→ ␣↔
␣∈ ␣− ␣≤ ␣≥ ␣│ ␣├ ␣■ ␣● ␣★ ␣⟨ ␣。 ␣「 ␣【 ␣下午 ␣修改 ␣创建 ␣初始化
␣删除 ␣参数 ␣数据 ␣文件 ␣是否 ␣更新 ␣生命周期 ␣生命周期函数 ␣用户 ␣获取 ␣设置 ␣输入 ␣输出
␣返回 ␣页面 ␣가 ␣값 ␣같 ␣개 ␣객체 ␣것 ␣경 ␣경우 ␣구 ␣그 ␣기 ␣나 ␣내 ␣다 ␣대
␣데이터 ␣등 ␣때 ␣로 ␣리 ␣만 ␣메 ␣모 ␣문 ␣반 ␣방 ␣배 ␣변 ␣보 ␣비 ␣사 ␣사용 ␣삭제
␣상 ␣생 ␣생성 ␣설 ␣설정 ␣수 ␣시 ␣아 ␣않 ␣없 ␣연 ␣오 ␣위 ␣이 ␣인 ␣입 ␣입력 ␣있
␣있는 ␣자 ␣작 ␣저장 ␣전 ␣정 ␣정보 ␣제 ␣조 ␣주 ␣중 ␣지 ␣처 ␣추 ␣추가 ␣출력 ␣클 ␣파
␣파일 ␣필 ␣하 ␣한 ␣함 ␣함수 ␣해 ␣확인 ␣（ ␣， ␣： ά ή ί α β γ ε η ι κ λ
μ ν ο ου π ρ ς σ τ υ ω ό А Б В Введите Вы Г Д Добав Е З И
К Л М Н Не О Об От Ошибка П Пр Р С Ст Т У Ф Ч а аб аблиц
ав аг ад аем ает ается аж аз азв азвание ай айд ак ал али
ализ аль ам ами ан анд ани ание аниц ания анны ап ар арам
арамет арт ас асс ассив ат ата атель атор ать аци ации
ация ач аш ая б в вед ведите вер вет вод г го д да дал дел
дин др дрес е еб ев ег егист его ед ее еж ез езульт
езультат ей ейств ек екс ект ел ели ель еля ем ен ена ени
ение ений ения ено ент ены ень еп ер ерж ес ест еств ество
ет етод ется еч еш ж же з и ив иг ид ие из ии ий ик ика ил
иль им имв ин ина ип ир иров ис ист ит ите итель ить иф их
ич ичество ия й к ка каз ке ки ключ ко ку л ла лат лем
лемент лен ление ления ли лиц ло ль льт лю люч ля ляем м
ма мен мер ми мож н на нач ная не ни ник но нов ного ное
ной ноп ности ность ную ны ные ный ных ня о об обав ображ
общ обы ов овар ог ого ограм од одерж ое ож оз озв озвращ
озвращает озд ой ок ока ол олж олн олов олуч оль ольз
ользов ользоват олько ом омер ому он она оп ор орм ос ост
от отор оч оя п пис пп прав р ра работ рав рам ран ращ ред
рем ри ров ровер рос ру руг руз рук ры с ск сл сли сп ст
став стан станов ств сти стр строй струк сть сы сыл ся т
та те тер ти тиров то тор ть у уб уд ует уж ук ульт ум
умент ун унк ункци уп ур ус уст ут уч ущ ую ующ ф форм х
ход ходим хран ц ци ции ция ч чет ш ше ши шиб шибка щ ъ ы
ыв ые ый ых ь э ю ют я яз ё і א ב ה ו י ל מ ר ש ת ، أ ا اب
ات اد ار ال ام ان ای ب ة ت ج ح خ د ذ ر ز س ست ش ص ض ط ع ف
ق ك ل م ن ه و ود ور ول ى ي ية َ ُ ِ ّ ْ پ ک گ ی ید ं क न र
स ा ि ी ु े ो ् র া ি ে ্ ் ് ก ข ค ง จ ช ด ต ท น บ ป พ ม
ย ร ล ว ส ห อ ะ ั ัน า าร ำ ิ ี ี่ ื ุ ู เ แ ใ ไ ่ ่า ้ ้อ
้า ์ ạ ả ấ ầ ẩ ậ ắ ặ ế ề ể ệ ỉ ị ọ ố ồ ổ ỗ ộ ớ ờ ở ụ ủ ứ ử
ữ ự ‐ ‑ – — —— ———— ———————— ― ‘ ’ “ ” ”— ”。 ”， „ • … ……
………… ′ ″ ※ ₂ € ™ ← → − ─ ── ──── │ █ ■ ● ★ ☆ ♥ ♪ 、 、「 。 。“
。” 。。 。「 。（ 《 》 「 」 」「 『 』 【 】 〜 あ あり い います う え お か から が き
く ください け こ この こん ご ござ さ さい ざ し しか した して します す する せ そ その それ
た だ ださい ち っ って つ て で です では でも と とう ど な に の は ま ました ます また み
め も や よ ら り る れ わ を ん ア ィ イ イト イン ウ ェ エ カ キ ク グ コ サ シ ジ ス
スト ズ セ タ チ ッ ック ット テ デ ト ド ニ バ ピ フ ブ プ マ メ メント ャ ュ ョ ラ リ ル
レ ロ ログ ン ント ・ ・・ ・・・ ー ージ ース ード ール 一 一个 万 三 上 上传 下 下载 不
不存在 不能 不能为空 与 业 东 两 个 中 中国 为 为空 主 义 之 也 了 事 事件 二 于 五 交 产 享
京 人 亿 今 介 从 他 付 代 代码 以 以上 件 价 任 份 会 传 但 位 体 作 作者 你 使 使用 例
例如 保 保存 信 信息 修 修改 值 像 元 先 入 全 公 公司 共 关 关闭 其 具 内 内容 円 册 写 出
击 函数 分 分类 列 列表 则 创建 删除 利 别 到 制 前 力 功 加 加载 务 动 动生成 包 化 北 北京
区 午 单 单位 南 原 县 参 参数 发 发送 取 取消 变 口 可 可以 台 右 号 司 合 同 名 名称 后
向 否 听 启 告 员 周 周期 命 命周期 和 品 商 商品 器 四 回 因 国 图 图片 土 在 地 地址 型
城 基 報 場 增 声 处 处理 备 复 外 多 大 天 失 失败 头 女 好 如 如果 始 姓名 子 字 字段
字符 字符串 存 存在 学 安 宋体 完 完成 定 实 客 家 容 密 密码 对 对象 导 将 小 展 山 州 工
左 已 市 布 常 平 年 并 序 库 应 店 度 建 开 开始 异常 式 引 当 当前 录 影 径 待 後 得 微
微软雅黑 心 必 志 态 性 总 息 情 意 成 成功 我 或 户 所 所有 手 手机 手机号 打 执行 报 拉 持
指 按 换 据 排 排序 接 描述 提 提交 提示 播 操作 支 支付 收 改 放 政 效 数 数据 数据库 数组
整 文 文件 料 断 新 方 方式 方法 族 无 日 日期 时 时间 明 星 是 是否 显示 時 更 更新 最 月
有 服 服务 期 木 未 本 机 权 束 条 条件 来 构 果 查 查询 标 标题 格 格式 模 次 款 正 此 步
段 每 比 民 水 求 江 没 治 法 注 注册 注意 活 海 消 消息 添加 源 点 点击 無 然 片 版 版本
物 特 状态 现 球 理 生 生成 用 用户 用户名 由 电 男 画 登 登录 的 监听 监听页面 目 直 相 相关
省 看 県 知 码 确 确定 示 社 科 秒 称 移 程 程序 空 站 章 端 笑 符 第 等 算 管 管理 米 类
类型 系 系统 素 索 级 线 组 经 结 结果 统 编 编号 编辑 网 网络 置 美 考 者 而 联 联系 能 自
至 色 节 获取 藏 行 表 表示 西 要 规 视 角 解 言 記 記事 计 订单 认 记 记录 论 设 设置 设计
设计器 证 评 试 话 该 语 误 说 说明 请 请求 请输入 读 调 象 责 败 资 起 超 路 路径 车 转
软雅黑 载 辑 输 输入 输出 过 近 返回 这 进 进行 连 连接 述 退 退出 送 选 选择 通 通过 造 道
部 都 配 释 里 重 重新 量 金 错 错误 长 間 门 闭 问 间 限 除 隐藏 雅 雅黑 集 需 非 面 音
页 页面 项 项目 题 首 首页 验 验证 验证码 高 黑 默认 가 간 개 게 경 고 공 과 그 기 나 는 능
니다 다 당 대 도 동 되 된 드 들 라 래 러 력 로 록 료 를 름 리 만 면 문 미 번 번호 보 부
비 사 상 색 생 서 성 세 세요 소 수 스 스트 습 습니다 시 식 아 어 에 에서 여 열 오 요 용 우
원 으 으로 은 을 음 의 이 인 일 입 자 작 장 재 전 정 제 주 지 체 출 치 터 트 하 하기 하는
한 한다 할 함 합니다 해 호 화 환 회 ！ ！” ！」 ！！ （ ） ）、 ）。 ）， ， ，“ ． ０ １
２ ３ ４ ５ ６ ７ ８ ９ ： ：“ ； ？ ～ � ��
'''
"""Marks, words of both cases, other scripts; ␣ is a space."""

BLOCKS = (
    "338BCCCCCCCCCCBBACCCCCCAACCCCCCCSSSSBCCCCCCCSSCCCCCCCCRSABRSSCSS"
    "CSSCSSSSSSSSSSSSSSSSSSSSSSSSSSSSSSSSSSSSSSSSSSSSSSSSSSSSSSCCSSSS"
    "BCCSCCRSCCSSSSSSSCSSCCCCCCSSSSSSSSSSSSSSSSSSSSSSSSSSSSSRSSSSSSSS"
    "CBB@SSSSSSSSSSSSSSSSSSSSSSSSSSSSSSSSSSSSSSSSSSSSSSSSSSSSSSSSSSSS"
    "SSSSSSSSSSSSSSSSSSSSSSSSSSSSSSSSSSSSSSSSSSSSSSSSSSSSSSSSCBCCCBBC"
    "CCRCSCCCCCCCCBBBCCSCCCCSSSSCCCSCCCCCCCSCSSSSRCCCBCCSSSSCCCCCCCCC"
    "CCQCCRSSCCBCCCCCSCCSCCCCCCCCCCCCCCSCSCSSSSSSCBCCCCCCCCCCCCCCCSSS"
    "SCRRCRSSCCSSSSBCCSSSCCSSSCCCCCSSSCCSCCCBCCCCCCCCSCCSCCSRSSCCCCCS"
    "CCCCSRSCCCCCCCSCCSSSSSSSSCSSSSSSSCCCSSCCCCCSRCCCCCCCBCCCSSSSSCCB"
    "BCCCSRSCSSSSCSSSSSCCCCBCCBCCCCSSCCCCSSCSSCSSRSSSSSSSSSSSSSSCSSCS"
    "SSSSSSSSSSSSSSSSSSSSSSSSSSSSSSSSSSSSSSSSSSSSSSSSCCCCSCSCCCSSSSSS"
    "SSCRCCSSSSCCSCSCCSSCCSSSSSSSSSCCCCSCSBCCSCCSRSSCCSCCSSCSRSSSSSSS"
    "SSCCCCCSSSCCSSSSSSSSSCCCCCCCCCCSBRSSCSCBSSSSSSSSCSCSSSCSSCSSSSSS"
    "SCRCCRSSSSCSCSSSSSSSSCSSCCSSSSSSSSSSSSSSSSSSSSSSSSSSSSSSSSSSSSSS"
    "SSSSSSSSSSSSSSSSSSSSSSSSSSSSSSSSSSSSSSSSSSSSSSSSSSSSSSSSSSSSSSSS"
    "SSSSSSSSSSSSSSSSSSSSSSSSSSSSSSSSSSSSSSSSSSSSSSSSSSSSSSSRRSSSBCRS"
)
"""Cost of a character without a piece in units, by the block of 64 it belongs to."""

SHARES = 64
SCRIPTS = (
    (0x0370, 0x03FF, 62),
    (0x0400, 0x052F, 63),
    (0x0590, 0x05FF, 57),
    (0x0600, 0x077F, 61),
    (0x0900, 0x097F, 54),
    (0x0980, 0x09FF, 56),
    (0x0B80, 0x0BFF, 56),
    (0x0E00, 0x0E7F, 61),
    (0x3001, 0x9FFF, 62),
    (0xAC00, 0xD7A3, 55),
)
"""First and last character of a script, and the share of their pieces that its words cost."""
