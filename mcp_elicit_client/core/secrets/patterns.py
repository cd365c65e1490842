"""Regular expressions by which texts are split and answers are searched for secrets."""

from __future__ import annotations

import re
from collections.abc import Mapping
from functools import cache

from mcp_elicit_client.core.secrets.findings import SecretKind

PATTERNS: Mapping[str, str] = {
    # How texts are written.
    "escaped": r"\\u\{[0-9a-f]{1,6}\}",
    "flag_emoji": "(?<![\U0001f1e6-\U0001f1ff])[\U0001f1e6-\U0001f1ff]{2}(?![\U0001f1e6-\U0001f1ff])",
    # A line that continues the previous one.  Lists look the same, so the text is read in both ways.
    "wrapped": r"(?<=[^\W\d_]|[,-])[ \t]{0,8}\n[ \t]{0,8}(?=[^\W\d_])",
    # The columns of a database are no request: ``SELECT password FROM users``.
    "sql": r"\bSELECT(?: DISTINCT)? [\w.*()]{1,64}(?:, ?[\w.*()]{1,64}){0,64} FROM [\w.]",
    # The name of a variable as an example is no request: ``e.g. GITHUB_TOKEN``.
    "example_name": r"""(?x)
        \b (?: [Ee]\.\ ?g\. | [Ff]or\ example | such\ as | z\.\ ?B\. | p\.\ ?e[jx]\. ) ,? \s
        [A-Z][A-Z0-9]{0,63} _ [A-Z0-9_]{1,63} \b
    """,
    # Two letters are enough in scripts whose words have one or two.
    "spelled": (
        r"(?<![^\W_])(?:[^\W_](?:[\W_]{1,3}[^\W_](?![^\W_])){2,}(?:(?<=\.\w)\.)?"
        r"|[\u3400-\u9fff\uac00-\ud7af](?:[\W_]{1,3}[\u3400-\u9fff\uac00-\ud7af](?![^\W_]))+)"
    ),
    "joint": r"\w[^\w\s]{1,2}\w",
    "joined": r"(?<!\w)\w+(?:[^\w\s]{1,2}\w+)+",
    "number_sign": r"(?<=\w )#(?!\w)|(?<!\w)[Nn]°",
    "no_letters": r"[\W_]+",
    "hump": r"(?<=[a-z0-9])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])",
    # Scripts that put no spaces between words, or hang endings on them.
    "unspaced": "[\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af]",
    "same_alphabet": r"[\x00-\x7f]+|[^\x00-\x7f]+",
    # Scripts whose words take short words before them and endings after them.
    "inflected": "[\u0590-\u06ff\u0900-\u0dff\u1200-\u137f]",
    # How the tables above are written.
    "name_of_variant": (
        "(LATIN(?: CAPITAL| SMALL)?|REGIONAL INDICATOR SYMBOL|NEGATIVE (?:CIRCLED|SQUARED) LATIN CAPITAL) LETTER "
        "(?:SMALL CAPITAL |DOTLESS |SCRIPT |TURNED )?([A-Z])(?: WITH .*)?"
    ),
    "names_of_signs": r"\[[^\]]*\]|[a-z_]+",
    "word_of_table": r"\w+",
    # What is worth a closer look.
    "odd": r"[-_/=.:@]\w|[-_](?<=[^\W_][-_])(?!\w)|\bA(?:Iza|KIA)",
    "long": r"\S{12}|-----BEGIN|\s-[pu]|\bmachine\s",
    "many_digits": r"\d(?:[ .\u2010-\u2015-]?\d){8}",
    "beginning": r"(?<![A-Za-z0-9])[A-Za-z0-9]\S",
    "foreign_digit": r"(?![0-9])\d",
    "word": r"[A-Za-z]+",
    # A name and its value.
    "is": r"""(?x)
        (?: => | := | (?<! [!<>~=] ) ={1,3} | [:：] (?! // ) ) \s*
        | \s (?: is | ist | est | es | jest | este | je | là | är | er | é | è | είναι | lautet | adalah | it's )
          (?: \s | [:=] \s* )
        | (?<= \w ) 's \s
        | (?<= [一-龥] ) [是为為] \s* | は \s? (?= [!-~] ) | (?<= [가-힣] ) [은는이가] \s (?= [!-~] )
    """,
    "before_label": r"(?s).*(?:[\n;&{}<>(),?|\"`=:：/]|(?<!\w)'|'(?!\w))",
    "flag": r"(?:^|\s)--?([A-Za-z][\w-]{1,40}) (\"[^\"]{4,}\"|'[^']{4,}'|[^\s-]\S{3,})",
    "tag": r"<([A-Za-z][\w.:-]{1,40})>([^<>\n]{3,200})</",
    "random": r"(?<![\w/.=:-])(?=[A-Za-z_-]{0,40}\d)(?=[\d_-]{0,40}[A-Za-z])[\w-]{20,200}(?![\w/.-])",
    "beside": r"""(?xm)
        (?: ^ | [;,] ) [ \t]{0,8} ( (?: 2FA [ ] )? [^\W\d_]{2,20} (?: [ ] (?: d[eiou] [ ] )? [^\W\d_]{2,20} )? ) [ ]
        (?: [–—-] [ ] )?
        (?! (?i: sha | md | aes | rsa | base | utf | argon | oauth | pbkdf ) -? \d )
        (?! (?i: version | level | page | step | field | line ) -? \d )
        ( \d{3}[ -]?\d{3} | \d{3}[ -]\d\d[ -]\d{4} | \d{3,20}
        | (?= \S{0,60}\d ) (?= \S{0,60}[^\W\d_] ) [^\s,;:/()]{6,64} )
        (?= [#]? [ \t]{0,8} (?: $ | [;,.] | (?: [^\W\d_]{2,20} [ ] ){1,2} \d ) )
    """,
    "is_your": (
        r"(?<!\S)(?:[A-Z]-)?(\d{3}[ -]\d{3}|\S{4,200}) is ((?:your|my|the) [^\n.,;!]{3,60}?)(?= for |[\n.,;!]|$)"
    ),
    "user_and_password": r"[^\s/:|]{1,64}(?: [/|] |:)(?=\S*[A-Za-z])(?=\S*\d)([^\s/:|]{6,64})(?!\S)",
    "quoted": r"([\"'`])(.{1,299}?)\1",
    "user_in_url": r"\b[A-Za-z][A-Za-z0-9+.-]{1,20}://([^\s/:@?#]{0,200}):([^\s/@]{1,200})@",
    # What stands where a value was, or will be: a placeholder, a call, the number of a ticket, a length.
    "masked": r"""(?x)
        (?: [*•·_-] | \.{3} | … | [xX]{3} | \#{3} )+ $
        | [<\[{(«$%!&]
        | .* (?: EXAMPLE | YOUR | REPLACE | CHANGE_?ME | PLACEHOLDER | REDACTED | xxxx | XXXX | \*\*\* )
        | [A-Za-z_] [\w.]* (?: \( ["')] | \[ ["'\w.]+ \] )
        | [:@] [a-z_]+ (?: \( | \d{0,2} (?! \S ) )
        | [A-Za-z]{1,8} / [A-Za-z]{1,8} (?! \S )
        | [A-Z]{2,10} - \d{1,6} (?! \S )
        | \d{1,4} (?: 文字 | 个?字符 | 個字元 | [桁位年月日天回次자년월일회번] )
        | (?: 至少 | 不少于 | 最少 | 最多 | 最低 | 최소 ) \s? \d
        | (?i: your | my | some | the ) [-_ ]
        | (?: process | os | self | config | settings | secrets | vars | env | getenv | System
            | req | request | ctx | context | event | params | args | body | form | props ) [.\[(]
        | (?: vault | op | ref | ssm | awssm | gcpsm | arn | file | env | secret | secretref | https? | data | urn ) :
          (?! .* @ )
        | (?: ~ | \.{1,2} )? / | [A-Za-z] :\\
    """,
    # An adjective: ``the password is case-sensitive``.
    "hyphenated": r"(?:\d{1,3}|[A-Za-z]{2,20})-[a-z]{3,20}(?!\w|-\d)",
    # Cards, from Visa to Troy: what they begin with, and how long they are.
    "card": r"""(?x) (?<! [\w+-] ) (?<! \d[.\ -] )
        ( \d{13,19} | \d{4} (?: [\ .\u2010-\u2015-]\d{4} ){2} [\ .\u2010-\u2015-]\d{1,7}
        | \d{4} [\ -] \d{6} [\ -] \d{4,5} )
        (?! \w | [.-]\d | [ ]\d (?! \d? [ ]? / ) )""",
    "issued_cards": r"""(?x)
        4\d{15}
        | (?: 5[1-5]\d\d | 222[1-9] | 22[3-9]\d | 2[3-6]\d\d | 27[01]\d | 2720 ) \d{12}
        | 3[47]\d{13}
        | (?: 6011 | 65\d\d | 64[4-9]\d ) \d{12}
        | 3 (?: 0[0-5] | [689]\d ) \d{11}
        | 35 (?: 2[89] | [3-8]\d ) \d{12}
        | 62\d{14,17}
        | (?: 5018 | 5020 | 5038 | 5893 | 6304 | 6759 | 676[1-3] ) \d{8,15}
        | (?: 508[5-9] | 60[6-8]\d | 81\d\d | 82\d\d ) \d{12}
        | 220[0-4]\d{12}
        | 9792\d{12}
    """,
    "iban": r"\b[A-Z]{2}\d\d(?: ?[A-Z0-9]{4}){2,7}(?: ?[A-Z0-9]{1,4})?\b",
    # A US social security number, and what makes its dashes another number's.
    "ssn": r"(?<![\w-])(?!000|666|9)\d{3}-(?!00)\d\d-(?!0000)\d{4}(?![\w-])",
    "not_ssn": r"""(?xi)
        \b (?: part | order | item | sku | serial | ref | reference | case | ticket | model | invoice | no | nr | phone
              | tel ) \b
        \W{0,3} (?: no | number | id )? \W{0,3} $
    """,
}
"""The patterns of texts and answers, by name."""

# What follows a number without a space, and is not a unit: ``4821です``.
_AFTER_NUMBER = "[ぁ-ゟ]|입니|이에|예요|이야|请|請"

VALUES: Mapping[SecretKind, str] = {
    "pin": rf"\d{{4,8}}(?!(?!{_AFTER_NUMBER})\w|[%€$]|[.,:/-]\d| ?(?:mm|cm|m|kg|g|px|x|items|times|days)\b)",
    "one_time_code": r"""(?x)
        (?= [A-Za-z]{0,9}\d | [A-Za-z]{4,10}[ -] (?= [A-Za-z]{0,5}\d ) [A-Za-z0-9]{3} )
        [A-Za-z0-9]{4,10} (?: [ -][A-Za-z0-9]{3,6} ){0,3} (?! [\w:/] )
        | \d{3}[ -]\d{3} (?!\d)
        | (?= [A-Z-]{0,20}\d ) [A-Z0-9]{4,6} (?: - [A-Z0-9]{4,6} ){1,7} (?! \w )
        | (?= \D{0,63}\d ) [A-Z2-7]{16,64} (?!\w)
        | \d\d (?: [ -]\d\d ){2} (?! [ \d-] )
        | \d{4,10} (?= """
    rf"{_AFTER_NUMBER} )",
    "card": r"(?:\d[ -]?){12,18}\d|\d{3,4}(?!\d)|\d\d ?/ ?\d\d",
    "bank_account": r"(?=(?:\D{0,2}\d){6})\w[\w ./-]{5,}",
    "identity_number": r"(?=(?:\D{0,2}\d){4})\w[\w ./-]{3,}",
    "security_answer": r"(?!(?i:yes|no|none|never|unknown|any|not|optional|required|missing)\b)[^\W\d_]{2,}",
    "recovery_phrase": r"(?:[^\W\d_]{3,12}[\s,]+){8,}",
    "api_key": r"(?=\S{0,200}\d)(?=\S{0,200}[A-Za-z])[^\s\"'<>,;]{8,}|[A-Za-z+/=_-]{24,}",
    "token": r"(?=\S{0,200}\d)(?=\S{0,200}[A-Za-z])[^\s\"'<>,;]{8,}|[A-Za-z+/=_-]{24,}",
    "private_key": r"(?=\S{0,200}\d)(?=\S{0,200}[A-Za-z])[^\s\"'<>,;]{16,}|[A-Za-z+/=_-]{24,}",
    "session": r"(?=\S{0,200}\d)[^\s\"'<>,]{12,}",
    "password": r"(?=\S{0,60}(?:[\d_]|[^\w\s.,;:!?)]|[.,;:!?)]\S*\w))(?=\S{0,60}[^\W\d])[^\s\"'<>]{4,}|\d{4,}",
}
"""The pattern of a value that follows the name of a secret, by kind."""


@cache
def pattern(name: str) -> re.Pattern[str]:
    """Return the compiled pattern of `PATTERNS` with this name."""
    return re.compile(PATTERNS[name])


@cache
def value_pattern(kind: SecretKind) -> re.Pattern[str] | None:
    """Return the compiled pattern of the values of *kind*; None if any value would do."""
    return re.compile(VALUES[kind]) if kind in VALUES else None
