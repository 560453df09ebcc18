// What the paths of pages and shares name. What has no such form isn't found (A8).
import { notFound } from '../../domain/errors.ts';
import { string } from '../shapes/scalars.ts';
import type { Shape } from '../shapes/shape.ts';

/** The form of a publish key (F8). */
export const PAGE_KEY = /^[0-9A-Za-z]{16}$/;

export const pageKey = formed(PAGE_KEY, 'Page');
export const shareCode = formed(/^[0-9A-Za-z]{22}$/, 'Share');

function formed(pattern: RegExp, kind: string): Shape<string> {
  return {
    ...string,
    read: (value) => {
      if (typeof value === 'string' && pattern.test(value)) return value;
      throw notFound(kind);
    },
  };
}
