// Puts a text on the clipboard.

/** Returns whether it is there: a page without HTTPS has no clipboard, and a browser may refuse it. */
export async function copyText(text: string): Promise<boolean> {
  try {
    await navigator.clipboard.writeText(text);
    return true;
  } catch {
    return false;
  }
}
