import { expect, test } from 'vitest';
import { readTraceParent } from '../../../src/telemetry/traces/traceparent.ts';

const TRACE = '4bf92f3577b34da6a3ce929d0e0e4736';
const SPAN = '00f067aa0ba902b7';

test.each([
  [`00-${TRACE}-${SPAN}-01`, { traceId: TRACE, spanId: SPAN, isSampled: true }],
  [`00-${TRACE}-${SPAN}-00`, { traceId: TRACE, spanId: SPAN, isSampled: false }],
  [` 00-${TRACE}-${SPAN}-03 `, { traceId: TRACE, spanId: SPAN, isSampled: true }],
  // A later version may have more.
  [`cc-${TRACE}-${SPAN}-01-what-the-future-will-be-like`, { traceId: TRACE, spanId: SPAN, isSampled: true }],
  [undefined, null],
  ['', null],
  [`00-${TRACE}-${SPAN}-01-more`, null],
  [`ff-${TRACE}-${SPAN}-01`, null],
  [`00-${TRACE.toUpperCase()}-${SPAN}-01`, null],
  [`00-${'0'.repeat(32)}-${SPAN}-01`, null],
  [`00-${TRACE}-${'0'.repeat(16)}-01`, null],
  [`00-${TRACE}-${SPAN}`, null],
])('the header %o', (header, parent) => {
  expect(readTraceParent(header)).toEqual(parent);
});
