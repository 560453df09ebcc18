// The page of one version: who published it and when, the other versions, and the content; or the content alone.
import { pagePathOf } from '../../domain/publishing/public-address.ts';
import type { PublicPage, PublicVersion } from '../../operations/publishing/public-pages.ts';
import { html, type Html } from '../replies/html.ts';
import { type EntryText, isCard, isFramed, renderContent } from './content.ts';
import { renderDocument, SKIP_LINK } from './document.ts';
import type { Entry } from './entry.ts';
import type { Script } from './static-files.ts';
import { renderPicker } from './picker.ts';
import { counted, shortened, sizeInWords, typeInWords } from './words.ts';
import { timeElement, type Zone } from './zone.ts';

export interface SharePage {
  readonly page: PublicPage;
  readonly version: PublicVersion;
  /** Its entry, as it is shown. */
  readonly entry: Entry;
  /** The newest readable versions; empty when there is no other one. */
  readonly versions: readonly PublicVersion[];
  readonly text: EntryText;
  /** Its path, as it was opened: that of the page stays with the newest version, that of the share with this one. */
  readonly path: string;
  /** The address of the daemon that people use, without a slash at the end. */
  readonly origin: string;
  readonly zone: Zone;
  readonly nonce: string;
}

/** What is shown, and how. */
interface Content {
  readonly entry: Entry;
  readonly isCard: boolean;
  readonly html: Html;
}

const DESCRIPTION_CHARACTERS = 200;

export function renderSharePage(model: SharePage): Html {
  const { page, version, entry, text, path, origin, nonce } = model;
  const shown = { ...entry, text, title: page.name, path };
  const content = { entry, isCard: isCard(shown), html: renderContent(shown) };
  const shape = isFramed(shown) ? 'framed' : 'reading';
  const isBare = page.isDistractionFree;
  const bareLayout = shape === 'framed' ? 'bare framed' : 'bare';
  return renderDocument(
    {
      title: version.isLatest ? page.name : `${page.name} (version ${version.no})`,
      layout: isBare ? bareLayout : shape,
      preview: {
        description: previewOf(page, entry),
        url: origin + path,
        type: 'article',
        image: entry.view === 'image' ? { url: origin + entry.address, alt: page.name } : undefined,
      },
      scripts: scriptsOf(model),
      body: isBare ? bareBody(page, content) : wholeBody(model, content),
    },
    nonce,
  );
}

function scriptsOf({ page, versions, entry }: SharePage): Script[] {
  const scripts: Script[] = page.isDistractionFree ? [] : ['times.js'];
  if (!page.isDistractionFree && versions.length > 1) scripts.push('picker.js');
  if (entry.view === 'table') scripts.push('table.js');
  return scripts;
}

/** In a messenger, a link needs a sentence. */
function previewOf({ description, owner }: PublicPage, { name, mediaType }: Entry): string {
  const text = shortened(description ?? '', DESCRIPTION_CHARACTERS);
  return text === '' ? `${typeInWords(name, mediaType)} by ${ownerName(owner)}` : text;
}

export const ownerName = ({ name, account }: PublicPage['owner']) => (name === '' ? account : name);

function bareBody({ name }: PublicPage, content: Content): Html {
  return html`<main id="content"><h1 class="unseen">${name}</h1>${content.html}</main>`;
}

function wholeBody({ page, version, versions, zone }: SharePage, { entry, isCard, html: shown }: Content): Html {
  return html`${SKIP_LINK}
<header class="masthead">
<div class="about">
${page.isOnBoard && html`<p class="home"><a href="/share">All pages</a></p>`}
<h1 dir="auto">${page.name}</h1>
${byline(page, version, zone)}
${page.description !== null && page.description !== '' && html`<p class="description" dir="auto">${page.description}</p>`}
${labels(page)}
</div>
<div class="actions">
${versions.length > 1 && renderPicker({ key: page.key, version, versions, zone })}
${!isCard && buttons(entry)}
</div>
</header>
<main id="content">
${!version.isLatest && page.latest !== null && olderNotice(page.key, version.no, page.latest.no)}${shown}
</main>
${footer(version, zone)}`;
}

function buttons({ view, address, downloadAddress }: Entry): Html {
  return html`<p class="buttons">${OPENS.has(view) && html`<a class="button" href="${address}">Open alone</a>`}
<a class="button" href="${downloadAddress}" download>Download</a></p>`;
}

/** Views whose entry a browser shows by itself. */
const OPENS: ReadonlySet<Entry['view']> = new Set(['html', 'pdf', 'image']);

function byline({ owner }: PublicPage, { publishedAt }: PublicVersion, zone: Zone): Html {
  const department = owner.department === '' ? null : html` <span class="department">${owner.department}</span>`;
  return html`<p class="byline"><span class="owner">${ownerName(owner)}</span>${department} ${timeElement(publishedAt, zone)}</p>`;
}

function labels({ category, tags }: PublicPage): Html | null {
  if (category === null && tags.length === 0) return null;
  return html`<ul class="labels" aria-label="Category and tags">${category !== null && html`<li class="category">${category}</li>`}${tags.map((tag) => html`<li>${tag}</li>`)}</ul>`;
}

function olderNotice(key: string, no: number, newest: number): Html {
  return html`<p class="notice">This is version ${no}. <a href="${pagePathOf(key)}">Show the newest, version ${newest}</a></p>
`;
}

function footer({ no, fileCount, totalSize, expiresAt }: PublicVersion, zone: Zone): Html {
  return html`<footer class="foot"><p>Version ${no} · ${counted(fileCount, 'file')} · ${sizeInWords(totalSize)}${expiresAt !== null && html` · Available until ${timeElement(expiresAt, zone)}`}</p></footer>`;
}
