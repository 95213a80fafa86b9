"""What makes two leads the same person or the same company."""

from __future__ import annotations

LONGEST_EMAIL = 320  # 64 before the @, 255 behind it
LONGEST_COMPANY = 200  # what two names share so far counts as the same; an index takes no more

# Mailboxes that anybody may have: their domain says nothing about a company.
_FREE_MAIL = {
    "world": "aol.com duck.com email.com fastmail.com fastmail.fm gmail.com hey.com hushmail.com"
    " inbox.com mac.com mail.com me.com passport.com pm.me proton.me protonmail.ch protonmail.com"
    " tutamail.com tutanota.com tutanota.de zoho.com zohomail.com",
    "North America": "att.net bellsouth.net charter.net comcast.net cox.net earthlink.net juno.com"
    " optonline.net rogers.com sbcglobal.net shaw.ca sympatico.ca verizon.net",
    "Latin America": "bol.com.br ig.com.br prodigy.net.mx terra.com.br uol.com.br",
    "Germany, Austria, Switzerland": "a1.net arcor.de bluewin.ch freenet.de mailbox.org posteo.de"
    " t-online.de web.de",
    "western and southern Europe": "alice.it blueyonder.co.uk btinternet.com eircom.net free.fr"
    " kpnmail.nl laposte.net libero.it ntlworld.com orange.fr planet.nl sapo.pt sfr.fr sky.com"
    " skynet.be talktalk.net telefonica.net telenet.be tiscali.it virgilio.it virginmedia.com"
    " wanadoo.fr ziggo.nl",
    "northern and eastern Europe": "abv.bg bk.ru centrum.cz inbox.ru interia.pl list.ru mail.ee"
    " mail.ru o2.pl onet.pl online.no op.pl rambler.ru seznam.cz telia.com ukr.net wp.pl ya.ru",
    "Asia and the Pacific": "126.com 139.com 163.com bigpond.com daum.net docomo.ne.jp ezweb.ne.jp"
    " foxmail.com hanmail.net naver.com nifty.com qq.com rediffmail.com sina.com sohu.com"
    " walla.co.il xtra.co.nz",
}
FREE_MAIL = frozenset(" ".join(_FREE_MAIL.values()).split())

# RFC 2606: addresses in examples and in data for trying things; nobody's company.
_EXAMPLES = frozenset({"example.com", "example.net", "example.org"})

# Providers with a domain in many countries: yahoo.fr, yahoo.co.uk, yahoo.com.br.
_NAMES = "gmx googlemail hotmail icloud live msn outlook rocketmail yahoo yandex ymail"
FREE_MAIL_NAMES = frozenset(_NAMES.split())


def keys(email: str | None, company: str | None) -> frozenset[str]:
    """All that makes a lead somebody's, each with what it is: two leads that share one are kin."""
    found = {
        "email": email_key(email),
        "company": company_key(company),
        "domain": domain_key(email),
    }
    return frozenset(f"{kind} {key}" for kind, key in found.items() if key)


def email_key(email: str | None) -> str | None:
    """Tell the person by e-mail, without case and outer blanks; None when there is none."""
    key = _key(email)
    return key if key and len(key) <= LONGEST_EMAIL else None


def company_key(company: str | None) -> str | None:
    """Tell the company by name, without case and outer blanks; None when there is none."""
    key = _key(company)
    return key[:LONGEST_COMPANY] if key else None


def domain_key(email: str | None) -> str | None:
    """Tell the company by the e-mail's domain; None when anybody may have a mailbox there."""
    name, _, domain = (email_key(email) or "").rpartition("@")
    if (
        not name
        or "." not in domain
        or domain in FREE_MAIL | _EXAMPLES
        or _is_of_free_provider(domain)
    ):
        return None
    return domain


def _key(words: str | None) -> str | None:
    return (words or "").strip().casefold() or None


def _is_of_free_provider(domain: str) -> bool:
    name, *ending = domain.split(".")
    if name not in FREE_MAIL_NAMES:
        return False
    match ending:
        case [top]:
            return len(top) == 2 or top in {"com", "net"}
        case ["co" | "com", country]:
            return len(country) == 2
    return False
