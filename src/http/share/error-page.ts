// Errors as pages.
import { type ErrorDetails, ErrandError, type ErrorReason } from '../../domain/errors.ts';
import { html, type Html } from '../replies/html.ts';
import { renderDocument } from './document.ts';

interface Words {
  readonly title: string;
  readonly text: string;
}

const GONE: Readonly<Record<NonNullable<ErrorDetails['why']>, Words>> = {
  expired: {
    title: 'This share has expired',
    text: 'It was published for a limited time. Ask its owner for a new link.',
  },
  file: { title: 'This file is missing', text: 'Its content can’t be found any more. Its owner can publish it again.' },
  withdrawn: { title: 'This share was withdrawn', text: 'Its owner has taken it back. Ask them for a new link.' },
};

const FAULT: Words = { title: 'Something went wrong', text: 'The fault is on our side, and has been recorded.' };
const AWAY: Words = { title: 'Temporarily unavailable', text: 'Please try again in a moment.' };
const REFUSED: Words = { title: 'This can’t be answered', text: 'The address or the request is not one of this site.' };

const WORDS: Partial<Readonly<Record<ErrorReason, Words>>> = {
  not_found: {
    title: 'Nothing is shared here',
    text: 'The link may be incomplete, or what it leads to is gone or not published yet.',
  },
  rate_limited: {
    title: 'Too many attempts',
    text: 'Many links that lead nowhere were tried from your network. Please wait a minute.',
  },
  internal: FAULT,
  bad_gateway: FAULT,
  unavailable: AWAY,
  wait_timeout: AWAY,
  request_timeout: AWAY,
};

function wordsOf(error: unknown): Words {
  if (!(error instanceof ErrandError)) return FAULT;
  const { why } = error.details;
  return (why && GONE[why]) ?? WORDS[error.reason] ?? REFUSED;
}

/** The page of anything thrown. It says no more than the kind of error, and the way to the board. */
export function renderErrorPage(error: unknown, status: number, nonce: string): Html {
  const { title, text } = wordsOf(error);
  const body = html`<main id="content" class="message">
<p class="status">${status}</p>
<h1>${title}</h1>
<p>${text}</p>
<p><a class="button" href="/share">All shared pages</a></p>
</main>`;
  return renderDocument({ title, layout: 'message', body }, nonce);
}
