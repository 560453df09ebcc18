// Where a link of a published document leads: to a file published with it, to a place in it, or to another site.
import type { LinkTargets } from './rendering.ts';

const SCHEME = /^[a-z][a-z0-9+.-]*:/i;
const OUTER = /^(?:https?:|mailto:)/i;
const INLINE_IMAGE = /^data:image\/(?:png|jpeg|gif|webp|avif);base64,[a-z0-9+/=]+$/i;

export interface Links {
  /** The address that a link gets; undefined when it leads nowhere. */
  target(written: string): string | undefined;
  /** The address that an image or a medium gets: of a published file, or inline. */
  medium(written: string): string | undefined;
}

/** Ids in a document begin with this, so that they can't be those of the page around it. */
export const ID_PREFIX = 'doc-';

export function makeLinks({ base, folder, paths }: LinkTargets): Links {
  const known = new Set(paths);

  function published(written: string): string | undefined {
    if (SCHEME.test(written) || written.startsWith('//')) return undefined;
    const [, location = '', fragment = ''] = /^([^?#]*)[^#]*(#.*)?$/s.exec(written) ?? [];
    const path = pathsOf(location, folder).find((each) => known.has(each));
    return path === undefined ? undefined : base + path.split('/').map(encodeURIComponent).join('/') + fragment;
  }

  return {
    target: (written) => {
      if (written.startsWith('#')) return `#${ID_PREFIX}${written.slice(1)}`;
      return OUTER.test(written) ? written : published(written);
    },
    medium: (written) => (INLINE_IMAGE.test(written) ? written : published(written)),
  };
}

/** The paths that a relative or rooted location may mean, relative to the folder. */
function pathsOf(location: string, folder: string): string[] {
  const path = decoded(location);
  if (path === undefined || path === '') return [];
  if (!path.startsWith('/')) return normalized(path);
  // Agents write paths of their workspace, and those of a site whose root is the folder.
  const below = path.startsWith(folder) ? [path.slice(folder.length)] : [];
  return [...below, path.slice(1)].flatMap(normalized);
}

function decoded(location: string): string | undefined {
  try {
    return decodeURIComponent(location);
  } catch {
    return undefined;
  }
}

/** Without `.` and `..`; nothing when it leaves the folder. */
function normalized(path: string): string[] {
  const names: string[] = [];
  for (const name of path.split('/')) {
    if (name === '..' && names.pop() === undefined) return [];
    if (name !== '..' && name !== '.' && name !== '') names.push(name);
  }
  return [names.join('/')];
}
