// What a share shows, by the name of its entry (F11).
import type { ShareType } from './page.ts';

const EXTENSIONS: Readonly<Record<string, ShareType>> = {
  ...typed('page', '.html .htm .md .markdown'),
  ...typed('media', '.apng .avif .bmp .gif .ico .jpeg .jpg .png .svg .webp'),
  ...typed('media', '.aac .flac .m4a .mp3 .oga .ogg .opus .wav .weba'),
  ...typed('media', '.m4v .mov .mp4 .ogv .webm'),
};

function typed(type: ShareType, extensions: string): Record<string, ShareType> {
  return Object.fromEntries(extensions.split(' ').map((extension) => [extension, type]));
}

/** The type of a share whose entry has this path. */
export function shareTypeOf(entryPath: string): ShareType {
  const name = entryPath.slice(entryPath.lastIndexOf('/') + 1).toLowerCase();
  const dot = name.lastIndexOf('.');
  const extension = dot > 0 ? name.slice(dot) : '';
  return Object.hasOwn(EXTENSIONS, extension) ? EXTENSIONS[extension]! : 'file';
}
