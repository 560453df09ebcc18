// The image of one architecture, on a Debian that is given or fetched.
import path from 'node:path';
import { fetchBase } from './base.ts';
import { type ImageParts, makeImage } from './image.ts';

export interface ImageRequest {
  readonly directory: string;
  /** A Debian with what `base.ts` names, in place of one that is fetched. */
  readonly base: string | undefined;
}

/** Returns the file, or why there is none. `work`: an empty directory. */
export async function addImage(
  parts: Omit<ImageParts, 'base'>,
  { directory, base: given }: ImageRequest,
  work: string,
): Promise<{ readonly file: string } | { readonly why: string }> {
  const base = given ?? path.join(work, 'base');
  if (given === undefined) {
    try {
      await fetchBase(base, parts.target);
    } catch (error) {
      return { why: `no Debian for it can be fetched: ${(error as Error).message.trimEnd().split('\n').at(-1)}` };
    }
  }
  const file = path.join(directory, `errand-${parts.version}-linux-${parts.target.architecture}.oci.tar`);
  await makeImage({ ...parts, base }, work, file);
  return { file };
}
