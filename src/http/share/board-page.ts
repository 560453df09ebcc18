// The board: the pages that their owners show to everybody, newest first.
import { pagePathOf } from '../../domain/publishing/public-address.ts';
import type { PublicPage } from '../../operations/publishing/public-pages.ts';
import { html, type Html } from '../replies/html.ts';
import { renderDocument, SKIP_LINK } from './document.ts';
import { entryOf } from './entry.ts';
import { ownerName } from './share-page.ts';
import { counted, shortened, typeInWords } from './words.ts';
import { timeElement, type Zone } from './zone.ts';

export const BOARD_PAGE_SIZE = 18;
/** Categories in view; the others are behind a click. */
const CATEGORIES_IN_VIEW = 10;
const SUMMARY_CHARACTERS = 160;

/** What a reader looks for. */
export interface BoardSearch {
  /** A part of the name; '' for all. */
  readonly q: string;
  readonly category: string | null;
  /** From 1. */
  readonly page: number;
}

export interface Board {
  readonly search: BoardSearch;
  readonly items: readonly PublicPage[];
  readonly total: number;
  readonly categories: readonly { readonly name: string; readonly count: number }[];
  readonly origin: string;
  readonly zone: Zone;
  readonly nonce: string;
}

const TITLE = 'Shared pages';

export function renderBoard(board: Board): Html {
  const { search, origin, zone, nonce } = board;
  const url = `${origin}${addressOf(search)}`;
  const body = html`${SKIP_LINK}
<header class="masthead">
<div class="about">
<h1><a href="/share">${TITLE}</a></h1>
<p class="byline">Times are in <span class="zone">${zone.name}</span>.</p>
</div>
${searchForm(search)}
</header>
<main id="content">
${categoriesOf(board)}
${results(board)}
${paging(board)}
</main>`;
  const preview = { description: 'Pages that people here have published.', url, type: 'website' } as const;
  return renderDocument({ title: titleOf(search), layout: 'board', preview, scripts: ['times.js'], body }, nonce);
}

function titleOf({ q, category, page }: BoardSearch): string {
  const parts = [q !== '' && `“${q}”`, category, page > 1 && `page ${page}`, TITLE];
  return parts.filter((part) => typeof part === 'string').join(' · ');
}

/** The address of a search; what it doesn't say stays as it is by default. */
function addressOf({ q, category, page }: BoardSearch): string {
  const query = new URLSearchParams();
  if (q !== '') query.set('q', q);
  if (category !== null) query.set('category', category);
  if (page > 1) query.set('page', String(page));
  return query.size === 0 ? '/share' : `/share?${query.toString()}`;
}

function searchForm({ q, category }: BoardSearch): Html {
  return html`<form class="search" role="search" action="/share" method="get">
<label for="q">Search by name</label>
<input id="q" type="search" name="q" value="${q}" maxlength="200" autocomplete="off">
${category !== null && html`<input type="hidden" name="category" value="${category}">`}
<button class="button primary" type="submit">Search</button>
</form>`;
}

function categoriesOf({ categories, search }: Board): Html | null {
  if (categories.length === 0) return null;
  const link = (name: string | null, text: Html) =>
    html`<li><a href="${addressOf({ ...search, category: name, page: 1 })}"${name === search.category && html` aria-current="true"`}>${text}</a></li>`;
  const links = categories.map(({ name, count }) => link(name, html`${name} <span class="count">${count}</span>`));
  const others = links.slice(CATEGORIES_IN_VIEW);
  const isBehind = categories.slice(CATEGORIES_IN_VIEW).some(({ name }) => name === search.category);
  return html`<nav class="categories" aria-label="Categories">
<ul>${link(null, html`All`)}${links.slice(0, CATEGORIES_IN_VIEW)}</ul>
${others.length > 0 && html`<details${isBehind && html` open`}><summary>${others.length} more</summary><ul>${others}</ul></details>`}
</nav>`;
}

function results({ items, total, search, zone }: Board): Html {
  const { q, category } = search;
  if (items.length === 0) return nothingFound(total, search);
  const found = [counted(total, 'page'), q !== '' && `with “${q}” in the name`, category !== null && `in ${category}`];
  return html`<h2 class="unseen">Results</h2>
<p class="found">${found.filter(Boolean).join(' ')}, newest first</p>
<ul class="cards">${items.map((page) => card(page, zone))}</ul>`;
}

function nothingFound(total: number, { q, category }: BoardSearch): Html {
  if (total > 0) return html`<p class="empty">There are not so many pages. <a href="/share">Show the first</a></p>`;
  if (q === '' && category === null) return html`<p class="empty">Nothing has been published here yet.</p>`;
  return html`<p class="empty">No page matches this search. <a href="/share">Show all pages</a></p>`;
}

function card(page: PublicPage, zone: Zone): Html {
  const { key, name, description, category, owner, latest, versionCount } = page;
  const summary = shortened(description ?? '', SUMMARY_CHARACTERS);
  const entry = latest && entryOf(latest);
  const kicker = [entry && typeInWords(entry.name, entry.mediaType), category].filter((part) => part !== null);
  return html`<li class="card">
<h3 dir="auto"><a href="${pagePathOf(key)}">${name}</a></h3>
<p class="kicker">${kicker.join(' · ')}</p>
${summary !== '' && html`<p class="summary" dir="auto">${summary}</p>`}
<p class="byline"><span class="owner">${ownerName(owner)}</span>${owner.department !== '' && html` <span class="department">${owner.department}</span>`} ${latest && timeElement(latest.publishedAt, zone, false)}${versionCount > 1 && html` <span>${counted(versionCount, 'version')}</span>`}</p>
</li>
`;
}

function paging({ search, total }: Board): Html | null {
  const last = Math.ceil(total / BOARD_PAGE_SIZE);
  if (last <= 1 || search.page > last) return null;
  const { page } = search;
  const link = (to: number, text: string, rel: string) =>
    html`<a class="button" rel="${rel}" href="${addressOf({ ...search, page: to })}">${text}</a>`;
  return html`<nav class="paging" aria-label="Pages of results">
${page > 1 ? link(page - 1, 'Newer', 'prev') : html`<span></span>`}
<span>Page ${page} of ${last}</span>
${page < last ? link(page + 1, 'Older', 'next') : html`<span></span>`}
</nav>`;
}
