// The page of Office Mode in a browser: no data, two files, and a policy that admits nothing else (0054).
import { randomBytes } from 'node:crypto';
import { VERSION } from '../../../version.ts';
import { noSuchEndpoint } from '../../frame/dispatch.ts';
import type { Exchange } from '../../frame/exchange.ts';
import type { Headers } from '../../replies/head.ts';
import { html, type Html } from '../../replies/html.ts';
import { ICON } from '../../replies/icon.ts';
import type { Reply } from '../../replies/reply.ts';
import type { Assets } from './assets.ts';
import { rootOf } from './headers.ts';

const NONCE_BYTES = 16;

/** `'self'` would admit what agents publish, which has the same origin. */
function headersOf(nonce: string): Headers {
  return {
    'Content-Security-Policy': [
      "default-src 'none'",
      `script-src 'nonce-${nonce}'`,
      `style-src 'nonce-${nonce}'`,
      "connect-src 'self'",
      "img-src 'self' data:",
      "base-uri 'none'",
      "form-action 'none'",
      "frame-ancestors 'none'",
      "require-trusted-types-for 'script'",
      "trusted-types 'none'",
    ].join('; '),
    'Cross-Origin-Opener-Policy': 'same-origin',
    'Cache-Control': 'no-cache',
  };
}

/** Below `/office`, they are no places of the app. */
const OTHERS: ReadonlySet<string> = new Set(['api', 'assets', 'login', 'logout', 'plain']);

export function makeShell({ addressOf }: Pick<Assets, 'addressOf'>) {
  const show = ({ bases }: Pick<Exchange, 'bases'>): Reply<Html> => {
    const nonce = randomBytes(NONCE_BYTES).toString('base64');
    return { status: 200, headers: headersOf(nonce), body: render(rootOf(bases.own), addressOf, nonce) };
  };
  return {
    officeFront: show,
    officeFolder: show,
    /** Throws `not_found` for what is no place. */
    officePlace: (exchange: Pick<Exchange, 'bases' | 'params'>): Reply<Html> => {
      const path = exchange.params['path'] ?? '';
      if (OTHERS.has(path.split('/')[0]!)) throw noSuchEndpoint(`/office/${path}`);
      return show(exchange);
    },
  };
}

function render(root: string, addressOf: Assets['addressOf'], nonce: string): Html {
  return html`<!doctype html>
<html lang="en" data-root="${root}" data-version="${VERSION}">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>Office Mode</title>
<meta name="robots" content="noindex">
<meta name="color-scheme" content="light dark">
<link rel="icon" href="${ICON}">
<link rel="stylesheet" href="${root}/${addressOf('office.css')}" nonce="${nonce}">
<script type="module" src="${root}/${addressOf('office.js')}" nonce="${nonce}"></script>
<noscript><meta http-equiv="refresh" content="0; url=${root}/plain"></noscript>
</head>
<body>
<div id="office"></div>
<noscript><p>Office Mode needs JavaScript. <a href="${root}/plain">Show the floor as a table</a> instead.</p></noscript>
</body>
</html>
`;
}
