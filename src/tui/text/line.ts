// A line of the screen: spans of text with a role each. Layout makes lines, the theme makes them colours.
import { keepByWorth, type Worthy } from '../../terminal/fit-columns.ts';
import { fit, widthOf } from './fit.ts';
import { sparkline } from './graphs.ts';

/** What a text is, for its colour. */
export const ROLES = [
  'plain',
  'strong',
  'dim',
  'faint',
  'accent',
  'running',
  'waiting',
  'pending',
  'completed',
  'failed',
  'idle',
  'money',
  'code',
  'fresh',
] as const;
export type Role = (typeof ROLES)[number];

export interface Span {
  readonly text: string;
  readonly role: Role;
}

/** `selected` draws the line on the background of the selection, but for what stands beside it. */
export interface Line {
  readonly spans: readonly Span[];
  readonly selected?: boolean;
  readonly beside?: readonly Span[];
}

export const EMPTY: Line = { spans: [] };

/** A span of text that is safe already. */
export function span(text: string, role: Role = 'plain'): Span {
  return { text, role };
}

/** A span of foreign text, exactly `width` columns wide. */
export function cell(text: string, width: number, role: Role = 'plain', align: 'start' | 'end' = 'start'): Span {
  return { text: fit(text, width, align), role };
}

/** Values as a small graph: those of nothing are faint, so that the others stand out. */
export function graph(values: readonly (number | null)[]): readonly Span[] {
  return Array.from(sparkline(values), (character, at) => span(character, values[at] ? 'accent' : 'faint'));
}

export function widthOfSpans(spans: readonly Span[]): number {
  return spans.reduce((sum, { text }) => sum + widthOf(text), 0);
}

/** A line of exactly `width` columns, with some spans at its right end; those give way when there is no room. */
export function lineOf(left: readonly Span[], right: readonly Span[], width: number): Line {
  const [leftWidth, rightWidth] = [widthOfSpans(left), widthOfSpans(right)];
  if (rightWidth > 0 && leftWidth + rightWidth < width) {
    return { spans: [...left, span(' '.repeat(width - leftWidth - rightWidth)), ...right] };
  }
  return { spans: clip(left, width) };
}

/** A part of a line. Its text begins with its distance. */
export interface Part extends Worthy {
  readonly span: Span;
}

/** The parts that fit into so many columns, in their order, without those that are worth least. */
export function partsWithin(room: number, parts: readonly Part[]): readonly Part[] {
  const shown = parts.filter(({ span: { text } }) => text !== '');
  return keepByWorth(shown, (kept) => widthOfSpans(kept.map((part) => part.span)) <= room);
}

/** Spans of a line that stay or go together. They begin with their distance. */
export interface Group extends Worthy {
  readonly spans: readonly Span[];
}

/** The spans of those that fit into so many columns, as above. */
export function groupsWithin(room: number, groups: readonly Group[]): readonly Span[] {
  const widths = new Map(groups.map((group) => [group, widthOfSpans(group.spans)]));
  const kept = keepByWorth(groups, (some) => some.reduce((sum, group) => sum + widths.get(group)!, 0) <= room);
  return kept.flatMap(({ spans }) => spans);
}

/** A line of exactly `width` columns, with the parts that there is room for at its right end. */
export function lineByWorth(left: readonly Span[], width: number, parts: readonly Part[]): Line {
  const kept = partsWithin(width - widthOfSpans(left) - 1, parts);
  return lineOf(
    left,
    kept.map((part) => part.span),
    width,
  );
}

/** Cuts or pads spans to exactly `width` columns. */
export function clip(spans: readonly Span[], width: number): readonly Span[] {
  const kept: Span[] = [];
  let room = width;
  for (const { text, role } of spans) {
    const columns = widthOf(text);
    if (columns > room) {
      if (room > 0) kept.push(cell(text, room, role));
      return kept;
    }
    kept.push({ text, role });
    room -= columns;
  }
  return room === 0 ? kept : [...kept, span(' '.repeat(room))];
}

/** The text of lines, without colours. */
export function textOf(lines: readonly Line[]): string {
  return lines.map(({ spans, beside = [] }) => [...spans, ...beside].map(({ text }) => text).join('')).join('\n');
}
