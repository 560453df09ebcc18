import { expect, test } from 'vitest';
import { mediaTypeOf, presentationOf, publishedPresentationOf } from '../../src/files/media-type.ts';

const TEXT = 'inline text/plain; charset=utf-8';

/** The media type of each name's preview. */
const PREVIEWS: readonly (readonly [name: string, sent: string])[] = [
  ['a.png', 'inline image/png'],
  ['A.JPG', 'inline image/jpeg'],
  ['a.gif', 'inline image/gif'],
  ['a.webp', 'inline image/webp'],
  ['a.avif', 'inline image/avif'],
  ['a.bmp', 'inline image/bmp'],
  ['a.pdf', 'inline application/pdf'],
  ['a.mp3', 'inline audio/mpeg'],
  ['a.wav', 'inline audio/wav'],
  ['a.ogg', 'inline audio/ogg'],
  ['a.m4a', 'inline audio/mp4'],
  ['a.mp4', 'inline video/mp4'],
  ['a.webm', 'inline video/webm'],
  ['a.txt', TEXT],
  ['a.csv', TEXT],
  ['a.md', TEXT],
  ['a.json', TEXT],
  ['a.jsonl', TEXT],
  ['a.yaml', TEXT],
  ['a.js', TEXT],
  ['a.ts', TEXT],
  ['a.tsx', TEXT],
  ['a.py', TEXT],
  ['a.go', TEXT],
  ['a.rs', TEXT],
  ['a.sh', TEXT],
  ['a.css', TEXT],
  ['a.xml', TEXT],
  ['Makefile', TEXT],
  ['LICENSE', TEXT],
  // What can run, and unknown types, are never displayed.
  ['a.html', 'attachment text/html'],
  ['a.HTM', 'attachment text/html'],
  ['a.xhtml', 'attachment application/xhtml+xml'],
  ['a.svg', 'attachment image/svg+xml'],
  ['a.svgz', 'attachment image/svg+xml'],
  ['a.png.svg', 'attachment image/svg+xml'],
  ['a.swf', 'attachment application/x-shockwave-flash'],
  ['a.mhtml', 'attachment message/rfc822'],
  ['a.zip', 'attachment application/zip'],
  ['a.docx', 'attachment application/vnd.openxmlformats-officedocument.wordprocessingml.document'],
  ['a.unknown', 'attachment application/octet-stream'],
  ['a', 'attachment application/octet-stream'],
  ['.png', 'attachment application/octet-stream'],
  ['png', 'attachment application/octet-stream'],
  ['a.png\n', 'attachment application/octet-stream'],
  ['...', 'attachment application/octet-stream'],
];

test.each(PREVIEWS)('a preview of %s is sent as %s', (name, sent) => {
  const { disposition, contentType } = presentationOf(name, 'inline');
  expect(`${disposition} ${contentType}`).toBe(sent);
});

test('a download is never shown, and keeps its own type', () => {
  for (const [name] of PREVIEWS)
    expect([name, presentationOf(name, 'attachment').disposition]).toEqual([name, 'attachment']);
  expect(presentationOf('a.json', 'attachment').contentType).toBe('application/json');
  expect(mediaTypeOf('a.json')).toBe('application/json');
  expect(mediaTypeOf('a.unknown')).toBeNull();
});

/** How a published file of each name is sent. */
const PUBLISHED: readonly (readonly [name: string, sent: string])[] = [
  ['a.html', 'inline text/html; charset=utf-8'],
  ['A.HTM', 'inline text/html; charset=utf-8'],
  ['a.css', 'inline text/css; charset=utf-8'],
  ['a.js', 'inline text/javascript; charset=utf-8'],
  ['a.mjs', 'inline text/javascript; charset=utf-8'],
  ['a.json', 'inline application/json; charset=utf-8'],
  ['a.vtt', 'inline text/vtt; charset=utf-8'],
  ['a.wasm', 'inline application/wasm'],
  ['a.woff2', 'inline font/woff2'],
  ['a.svg', 'inline image/svg+xml'],
  ['a.ico', 'inline image/vnd.microsoft.icon'],
  ['a.png', 'inline image/png'],
  ['a.pdf', 'inline application/pdf'],
  ['a.mp4', 'inline video/mp4'],
  ['a.mov', 'inline video/quicktime'],
  // Documents that could act under their own type are shown as their source.
  ['a.xml', TEXT],
  ['a.xhtml', TEXT],
  ['a.xht', TEXT],
  ['a.xsl', TEXT],
  ['a.rss', TEXT],
  ['a.atom', TEXT],
  ['a.rdf', TEXT],
  ['a.xul', TEXT],
  ['a.mml', TEXT],
  ['a.appcache', TEXT],
  ['a.md', TEXT],
  ['a.csv', TEXT],
  ['a.ts', TEXT],
  ['a.php', TEXT],
  ['a.mhtml', 'attachment message/rfc822'],
  ['a.swf', 'attachment application/x-shockwave-flash'],
  ['a.zip', 'attachment application/zip'],
  ['a.html ', 'attachment application/octet-stream'],
  ['a.unknown', 'attachment application/octet-stream'],
  ['a', 'attachment application/octet-stream'],
];

test.each(PUBLISHED)('a published %j is sent as %s', (name, sent) => {
  const { disposition, contentType } = publishedPresentationOf(name, 'inline');
  expect(`${disposition} ${contentType}`).toBe(sent);
  expect(publishedPresentationOf(name, 'attachment').disposition).toBe('attachment');
});
