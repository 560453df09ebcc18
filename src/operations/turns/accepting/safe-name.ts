// Sanitizes names of attachments for paths, headers and terminals.

const MAX_BYTES = 120;
const EXTENSIONS: Readonly<Record<string, string>> = {
  'image/png': '.png',
  'image/jpeg': '.jpg',
  'image/gif': '.gif',
  'image/webp': '.webp',
  'image/svg+xml': '.svg',
  'application/pdf': '.pdf',
  'application/json': '.json',
  'text/plain': '.txt',
  'text/csv': '.csv',
  'text/html': '.html',
  'text/markdown': '.md',
};

/** A plain file name: no folder, no control character, no leading dot, at most 120 bytes (C4). */
export function safeName(name: string | null, mimeType: string): string {
  const base = (name ?? '').split(/[/\\]/).at(-1)!;
  const clean = base
    .normalize('NFC')
    // Control characters, format characters (which can reverse a name), separators, and what breaks shells and URLs.
    .replace(/[\p{Cc}\p{Cf}\p{Zl}\p{Zp}<>:"|?*%#]/gu, '')
    .replace(/\s+/g, ' ')
    .replace(/^[. ]+|[. ]+$/g, '');
  if (clean === '') return `attachment${EXTENSIONS[mimeType] ?? '.bin'}`;
  return shorten(clean);
}

/** Cuts a name to its limit and keeps the extension. */
function shorten(name: string): string {
  if (Buffer.byteLength(name) <= MAX_BYTES) return name;
  const dot = name.lastIndexOf('.');
  const extension = dot > 0 && name.length - dot <= 16 ? name.slice(dot) : '';
  let stem = extension === '' ? name : name.slice(0, dot);
  while (Buffer.byteLength(stem + extension) > MAX_BYTES) stem = Array.from(stem).slice(0, -1).join('');
  return stem + extension;
}
