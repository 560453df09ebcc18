// Office Mode in a browser (0054): its page and files, and logging in and out. What it reads is the table of `office.ts`, under another prefix.
import { endpoints } from '../endpoint.ts';
import type { Addressing } from '../publishing/file.ts';
import { called, made, record, request } from '../shapes/record.ts';
import { integer, string, text, time } from '../shapes/scalars.ts';
import { named, type Static } from '../shapes/shape.ts';

/** A link that logs one browser in, once. What follows `#` is never sent. */
export const officeLink = named(
  'OfficeLink',
  record({
    url: made(
      string,
      ({ base, code }: Pick<Addressing, 'base'> & { readonly code: string }) => `${base}/office#code=${code}`,
    ),
    expiresAt: time,
  }),
);

/** How many log-ins of browsers, and links that nobody has opened, were ended. */
export const officeEnded = named('OfficeEnded', record({ count: called('ended', integer({ from: 0 })) }));

const codeOfLink = named('OfficeCode', request({ code: text({ max: 200 }) }));
export type OfficeCodeWire = Static<typeof codeOfLink>;

// biome-ignore format: a table reads best with one endpoint a line
export const officeLogins = endpoints('none', 'envelope', {
  logIn: { route: 'POST /office/login', summary: 'Exchange the code of a link for the cookie of Office Mode', body: codeOfLink, maxBodyBytes: 1_024, statuses: [204] },
  logOut: { route: 'POST /office/logout', summary: 'End the cookie of Office Mode', statuses: [204] },
});

// biome-ignore format: a table reads best with one endpoint a line
export const officePages = endpoints('none', 'bare', {
  officeFile: { route: 'GET /office/assets/:name', summary: 'Download the script or the stylesheet of Office Mode', sendsFile: true, statuses: [200] },
  officeFolder: { route: 'GET /office/', summary: 'Show Office Mode', sendsPage: true, isSmall: true },
  officeFront: { route: 'GET /office', summary: 'Show Office Mode', sendsPage: true, isSmall: true },
});

// biome-ignore format: a table reads best with one endpoint a line
export const plainOffice = endpoints('web', 'bare', {
  plain: { route: 'GET /office/plain', summary: 'Show the floor of Office Mode without a script', sendsPage: true },
});

// biome-ignore format: a table reads best with one endpoint a line
export const officePlaces = endpoints('none', 'bare', {
  officePlace: { route: 'GET /office/*path', summary: 'Show a place of Office Mode', sendsPage: true, isSmall: true },
});
