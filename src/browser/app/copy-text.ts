// Puts a text on the clipboard.

interface Writes {
  readonly writeText: (text: string) => Promise<void>;
}

/** Returns whether it is there: a page without HTTPS has no clipboard, and a browser may refuse it. */
export async function copyText(clipboard: Writes | undefined, text: string): Promise<boolean> {
  if (clipboard === undefined) return false;
  try {
    await clipboard.writeText(text);
    return true;
  } catch {
    return false;
  }
}
