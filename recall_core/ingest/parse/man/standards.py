"""What macros of mdoc(7) spell out: standards, systems and libraries by their short names."""

from __future__ import annotations

_STANDARDS = {
    "ansiC": "ANSI X3.159-1989 (“ANSI C89”)",
    "ansiC-89": "ANSI X3.159-1989 (“ANSI C89”)",
    "ieee1275-94": "IEEE Std 1275-1994 (“Open Firmware”)",
    "ieee754": "IEEE Std 754-1985",
    "iso8601": "ISO 8601",
    "iso8802-3": "ISO 8802-3: 1989",
    "iso9945-1-90": "ISO/IEC 9945-1:1990 (“POSIX.1”)",
    "iso9945-1-96": "ISO/IEC 9945-1:1996 (“POSIX.1”)",
    "iso9945-2-93": "ISO/IEC 9945-2:1993 (“POSIX.2”)",
    "isoC": "ISO/IEC 9899:1990 (“ISO C90”)",
    "isoC-2011": "ISO/IEC 9899:2011 (“ISO C11”)",
    "isoC-90": "ISO/IEC 9899:1990 (“ISO C90”)",
    "isoC-99": "ISO/IEC 9899:1999 (“ISO C99”)",
    "isoC-amd1": "ISO/IEC 9899/AMD1:1995 (“ISO C90, Amendment 1”)",
    "isoC-tcor1": "ISO/IEC 9899/TCOR1:1994 (“ISO C90, Technical Corrigendum 1”)",
    "isoC-tcor2": "ISO/IEC 9899/TCOR2:1995 (“ISO C90, Technical Corrigendum 2”)",
    "p1003.1": "IEEE Std 1003.1 (“POSIX.1”)",
    "p1003.1-2001": "IEEE Std 1003.1-2001 (“POSIX.1”)",
    "p1003.1-2004": "IEEE Std 1003.1-2004 (“POSIX.1”)",
    "p1003.1-2008": "IEEE Std 1003.1-2008 (“POSIX.1”)",
    "p1003.1-88": "IEEE Std 1003.1-1988 (“POSIX.1”)",
    "p1003.1-90": "IEEE Std 1003.1-1990 (“POSIX.1”)",
    "p1003.1-96": "ISO/IEC 9945-1:1996 (“POSIX.1”)",
    "p1003.1b": "IEEE Std 1003.1b (“POSIX.1b”)",
    "p1003.1b-93": "IEEE Std 1003.1b-1993 (“POSIX.1b”)",
    "p1003.1c-95": "IEEE Std 1003.1c-1995 (“POSIX.1c”)",
    "p1003.1g-2000": "IEEE Std 1003.1g-2000 (“POSIX.1g”)",
    "p1003.1i-95": "IEEE Std 1003.1i-1995 (“POSIX.1i”)",
    "p1003.2": "IEEE Std 1003.2 (“POSIX.2”)",
    "p1003.2-92": "IEEE Std 1003.2-1992 (“POSIX.2”)",
    "p1003.2a-92": "IEEE Std 1003.2a-1992 (“POSIX.2”)",
    "susv1": "Version 1 of the Single UNIX Specification (“SUSv1”)",
    "susv2": "Version 2 of the Single UNIX Specification (“SUSv2”)",
    "susv3": "Version 3 of the Single UNIX Specification (“SUSv3”)",
    "susv4": "Version 4 of the Single UNIX Specification (“SUSv4”)",
    "svid4": "System V Interface Definition, Fourth Edition (“SVID4”)",
    "xbd5": "X/Open Base Definitions Issue 5 (“XBD5”)",
    "xcu5": "X/Open Commands and Utilities Issue 5 (“XCU5”)",
    "xcurses4.2": "X/Open Curses Issue 4, Version 2 (“XCURSES4.2”)",
    "xns5": "X/Open Networking Services Issue 5 (“XNS5”)",
    "xns5.2": "X/Open Networking Services Issue 5.2 (“XNS5.2”)",
    "xpg3": "X/Open Portability Guide Issue 3 (“XPG3”)",
    "xpg4": "X/Open Portability Guide Issue 4 (“XPG4”)",
    "xpg4.2": "X/Open Portability Guide Issue 4, Version 2 (“XPG4.2”)",
    "xsh4.2": "X/Open System Interfaces and Headers Issue 4, Version 2 (“XSH4.2”)",
    "xsh5": "X/Open System Interfaces and Headers Issue 5 (“XSH5”)",
}

_LIBRARIES = {
    "libarchive": "Streaming Archive Library", "libc": "Standard C Library", "libcrypt": "Crypt Library",
    "libcurses": "Curses Library", "libedit": "Command Line Editor Library", "libelf": "ELF Access Library",
    "libevent": "Event Notification Library", "libintl": "Internationalized Message Handling Library",
    "libkvm": "Kernel Data Access Library", "libm": "Math Library", "libmagic": "Magic Number Recognition Library",
    "libmd": "Message Digest (MD4, MD5, etc.) Support Library", "libpam": "Pluggable Authentication Module Library",
    "libpcap": "Packet capture Library", "libpthread": "POSIX Threads Library", "librt": "POSIX Real-time Library",
    "libutil": "System Utilities Library", "libz": "Compression Library",
}  # fmt: skip

_SYSTEMS = {
    "Bsx": "BSD/OS", "Dx": "DragonFly", "Fx": "FreeBSD", "Nx": "NetBSD", "Ox": "OpenBSD", "Ux": "UNIX",
}  # fmt: skip


def standard(name: str) -> str:
    """`-p1003.1` in full."""
    return _STANDARDS.get(name.removeprefix("-"), name)


def library(name: str) -> str:
    """`libc` in full."""
    full = _LIBRARIES.get(name)
    return f"{full} ({name}, -l{name.removeprefix('lib')})" if full else f"library “{name}”"


def att(version: str) -> str:
    """A release of AT&T's UNIX."""
    if version[:1] == "V" and version[1:2] == ".":
        return f"AT&T System V Release {version[2:]} UNIX"
    if version in ("III", "V"):
        return f"AT&T System {version} UNIX"
    if version == "32v":
        return "Version 7 AT&T UNIX/32V"
    if version[:1] == "v" and version[1:].isdecimal():
        return f"Version {version[1:]} AT&T UNIX"
    return f"AT&T UNIX {version}".rstrip()


def berkeley(version: str, variant: str = "") -> str:
    """A release of BSD."""
    return f"{version}BSD{'-' + variant.capitalize() if variant else ''}"


def system(macro: str, version: str = "") -> str:
    """A system by its macro."""
    return f"{_SYSTEMS[macro]} {version}".rstrip()
