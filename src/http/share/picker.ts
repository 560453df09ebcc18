// The version picker: a form that works by itself; the script only spares people its button.
import { isoTime } from '../../domain/clock.ts';
import { pagePathOf } from '../../domain/publishing/public-address.ts';
import type { PublicVersion } from '../../operations/publishing/public-pages.ts';
import { html, type Html } from '../replies/html.ts';
import type { Zone } from './zone.ts';

/** The picker offers no more versions than this, the newest. */
export const PICKER_VERSIONS = 100;

export interface Picker {
  /** Of the page. */
  readonly key: string;
  /** The one that is shown. */
  readonly version: PublicVersion;
  /** Newest first. */
  readonly versions: readonly PublicVersion[];
  readonly zone: Zone;
}

export function renderPicker({ key, version, versions, zone }: Picker): Html {
  const isListed = versions.some(({ no }) => no === version.no);
  const offered = isListed ? versions : [...versions, version];
  return html`<form class="picker" action="${pagePathOf(key)}" method="get">
<label for="version">Version</label>
<select id="version" name="version" autocomplete="off">
${offered.map((each) => optionOf(each, each.no === version.no, zone))}</select>
<button class="button" type="submit">Show</button>
</form>`;
}

function optionOf({ no, publishedAt, isLatest }: PublicVersion, isShown: boolean, zone: Zone): Html {
  return html`<option value="${no}" data-at="${isoTime(publishedAt)}"${isShown && html` selected`}>${no} · ${zone.wallTime(publishedAt)}${isLatest && ' (newest)'}</option>
`;
}
