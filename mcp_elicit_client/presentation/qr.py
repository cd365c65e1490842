"""QR codes of URLs for other devices; they need the extra ``qr``."""

from __future__ import annotations

import importlib.util
import io


def qr_code(url: str, width: int | None = None) -> str | None:
    """
    Return *url* as a QR code of half blocks, dark on light as scanners expect.

    Args:
        url: The URL to encode.
        width: The width of the terminal in columns; None for any.

    Returns:
        Lines of text; None if the package ``qrcode`` is not installed or the
        code does not fit.
    """
    if importlib.util.find_spec("qrcode") is None:
        return None
    import qrcode
    from qrcode.exceptions import DataOverflowError

    code = qrcode.QRCode(border=2, error_correction=qrcode.constants.ERROR_CORRECT_L)
    code.add_data(url)
    try:
        code.make(fit=True)
    except (DataOverflowError, ValueError):
        return None
    if width is not None and code.modules_count + 2 * code.border > width:
        return None
    drawn = io.StringIO()
    code.print_ascii(out=drawn, invert=True)
    return drawn.getvalue().rstrip("\n")
