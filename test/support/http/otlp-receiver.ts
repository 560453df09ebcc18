// A collector that takes traces as the protocol has them, and refuses what has another shape.
import { createServer, type IncomingHttpHeaders } from 'node:http';
import type { AddressInfo } from 'node:net';
import { json } from 'node:stream/consumers';
import * as vitest from 'vitest';
import { z } from 'zod';
import type { Of } from '../files/temporary-directory.ts';

const value = z.union([
  z.strictObject({ stringValue: z.string() }),
  z.strictObject({ intValue: z.string().regex(/^-?\d+$/) }),
  z.strictObject({ doubleValue: z.number() }),
  z.strictObject({ boolValue: z.boolean() }),
]);
const attributes = z.array(z.strictObject({ key: z.string().min(1), value }));
const hex = (digits: number) => z.string().regex(new RegExp(`^(?!0+$)[0-9a-f]{${digits}}$`));
const nanoseconds = z.string().regex(/^\d{19}$/);
const span = z.strictObject({
  traceId: hex(32),
  spanId: hex(16),
  parentSpanId: hex(16).optional(),
  name: z.string().min(1),
  kind: z.int().min(1).max(5),
  startTimeUnixNano: nanoseconds,
  endTimeUnixNano: nanoseconds,
  attributes,
  status: z.strictObject({ code: z.int().min(0).max(2), message: z.string().optional() }),
});
const scope = z.strictObject({ name: z.string(), version: z.string() });
/** `ExportTraceServiceRequest` in its JSON encoding, as far as it is used. */
const exported = z.strictObject({
  resourceSpans: z.array(
    z.strictObject({
      resource: z.strictObject({ attributes }),
      scopeSpans: z.array(z.strictObject({ scope, spans: z.array(span) })),
    }),
  ),
});

export type ReceivedSpan = z.infer<typeof span>;

/** Facts of a span as plain values. */
export function factsOf({ attributes: all }: Pick<ReceivedSpan, 'attributes'>): Record<string, unknown> {
  return Object.fromEntries(all.map(({ key, value: held }) => [key, Object.values(held)[0]]));
}

/** Opens it on a loopback address. `reply` decides what a request gets; 200 with an empty object otherwise. */
export async function openOtlpReceiver(
  reply: () => { readonly status: number; readonly headers?: Record<string, string>; readonly body?: string } = () => ({
    status: 200,
  }),
  { onTestFinished }: Of = vitest,
) {
  const spans: ReceivedSpan[] = [];
  const requests: { readonly path: string; readonly headers: IncomingHttpHeaders }[] = [];
  const faults: unknown[] = [];
  const server = createServer((req, res) => {
    void (async () => {
      const read = exported.safeParse(await json(req));
      requests.push({ path: req.url ?? '', headers: req.headers });
      if (!read.success) faults.push(read.error.issues);
      const { status, headers = {}, body = '{}' } = reply();
      if (read.success && status === 200) {
        for (const { scopeSpans } of read.data.resourceSpans) for (const part of scopeSpans) spans.push(...part.spans);
      }
      res.writeHead(read.success ? status : 400, { 'content-type': 'application/json', ...headers }).end(body);
    })();
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });
  const { port } = server.address() as AddressInfo;
  return { url: `http://127.0.0.1:${port}`, spans, requests, faults };
}
