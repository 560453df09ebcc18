// Which images are accepted: those that match their declared type, and are safe to decode.
import { readImageFacts, SHOWN_TYPES } from '../../../agent/conversation/image-facts.ts';

const MAX_MEGAPIXELS = 100;

/**
 * What is wrong with an image, as a phrase that follows the name of a request's field; null when nothing is. Types that no
 * model accepts, such as SVG or TIFF, are not examined: they are stored as files.
 */
export function imageFault(bytes: Uint8Array, mimeType: string): string | null {
  const facts = readImageFacts(bytes);
  if (facts === null) return SHOWN_TYPES.has(mimeType) ? 'must be a readable PNG, JPEG, GIF or WebP image' : null;
  if (facts.width * facts.height <= MAX_MEGAPIXELS * 1_000_000) return null;
  return `must have at most ${MAX_MEGAPIXELS} megapixels, but is ${facts.width} × ${facts.height}`;
}
