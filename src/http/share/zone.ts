// Times of pages in the time zone of the setting. A script shows them in that of the reader.
import { isoTime } from '../../domain/clock.ts';
import { html, type Html } from '../replies/html.ts';

export interface Zone {
  /** Such as `Beijing time` or `Europe/Zurich`. */
  readonly name: string;
  /** Such as `2026-03-01 20:01`. */
  wallTime(at: number): string;
}

/** Zones that people call otherwise. */
const NAMES: Readonly<Record<string, string>> = { 'Asia/Shanghai': 'Beijing time' };

/** Made once for each name of the setting. */
const zones = new Map<string, Zone>();
const MAX_ZONES = 32;

export function zoneOf(timeZone: string): Zone {
  let zone = zones.get(timeZone);
  if (zone === undefined) {
    zone = makeZone(timeZone);
    if (zones.size >= MAX_ZONES) zones.clear();
    zones.set(timeZone, zone);
  }
  return zone;
}

function makeZone(timeZone: string): Zone {
  // The Swedish format is that of ISO 8601.
  const format = new Intl.DateTimeFormat('sv', { timeZone, dateStyle: 'short', timeStyle: 'short' });
  return { name: NAMES[timeZone] ?? timeZone.replaceAll('_', ' '), wallTime: (at) => format.format(at) };
}

/** A moment for people and programs, with the zone named unless the page names it once for all. */
export function timeElement(at: number, zone: Zone, isNamed = true): Html {
  return html`<time class="moment" datetime="${isoTime(at)}">${zone.wallTime(at)}${isNamed && ` ${zone.name}`}</time>`;
}
