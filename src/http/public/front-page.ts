// The page at `/`, for people who enter the address of the daemon: what it is, and what clients are given.
import { createHash } from 'node:crypto';
import { ErrandError } from '../../domain/errors.ts';
import type { Settings } from '../../domain/settings.ts';
import type { Exchange } from '../frame/exchange.ts';
import { html, Html } from '../replies/html.ts';
import type { Reply } from '../replies/reply.ts';

const STYLE =
  ':root{color-scheme:light dark}body{font:1rem/1.5 system-ui,sans-serif;max-width:40rem;margin:3rem auto;padding:0 1rem}' +
  'dt{margin-top:1rem}dd{margin:0}code{font-size:1.05em;overflow-wrap:anywhere}';

/** Nothing but its own style. */
const POLICY = [
  "default-src 'none'",
  `style-src 'sha256-${createHash('sha256').update(STYLE).digest('base64')}'`,
  "base-uri 'none'",
  "form-action 'none'",
  "frame-ancestors 'none'",
].join('; ');

/** Programs, which don't ask for HTML, are told that nothing is here. */
export function makeFrontPage(settings: () => Pick<Settings, 'aliases' | 'office'>) {
  return ({ req, bases }: Pick<Exchange, 'req' | 'bases'>): Reply<Html> => {
    if (req.headers.accept?.includes('text/html') !== true) throw new ErrandError('not_found', 'No such endpoint.');
    return {
      status: 200,
      headers: {
        'Content-Security-Policy': POLICY,
        'Referrer-Policy': 'no-referrer',
        'Cache-Control': 'no-cache',
        Vary: 'Accept',
      },
      body: render(bases.own, settings()),
    };
  };
}

function render(base: string, { aliases, office }: Pick<Settings, 'aliases' | 'office'>): Html {
  return html`<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="robots" content="noindex">
<title>Errand</title>
<style>${Html.safe(STYLE)}</style>
</head>
<body>
<h1>Errand</h1>
<p>A daemon that runs AI agents. Programs speak to it with an API key, as they do to OpenAI or Anthropic.</p>
<dl>
<dt>Base URL for OpenAI clients</dt><dd><code>${base}/openapi/v1</code></dd>
<dt>Base URL for Anthropic clients</dt><dd><code>${base}/openapi</code></dd>
${aliases && html`<dt>In short</dt><dd><code>${base}/v1</code> and <code>${base}</code></dd>`}
</dl>
<p>${office.web && html`<a href="office">Office Mode</a>, for administrators · `}<a href="openapi.json">Description of the interface</a> · <a href="readyz">Whether it takes new turns</a></p>
</body>
</html>
`;
}
