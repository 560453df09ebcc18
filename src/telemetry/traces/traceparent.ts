// The trace that a request belongs to, by its `traceparent` header (W3C Trace Context).

/** The span of the caller. `isSampled`: whether the caller records its trace. */
export interface TraceParent {
  readonly traceId: string;
  readonly spanId: string;
  readonly isSampled: boolean;
}

const FORM = /^([0-9a-f]{2})-([0-9a-f]{32})-([0-9a-f]{16})-([0-9a-f]{2})(-.*)?$/;

/** Reads the header; null when it is absent or invalid. Later versions may have more fields after these. */
export function readTraceParent(header: string | undefined): TraceParent | null {
  const [, version, traceId = '', spanId = '', flags = '', rest] = FORM.exec(header?.trim() ?? '') ?? [];
  if (version === undefined || version === 'ff' || (version === '00' && rest !== undefined)) return null;
  if (/^0+$/.test(traceId) || /^0+$/.test(spanId)) return null;
  return { traceId, spanId, isSampled: (Number.parseInt(flags, 16) & 1) === 1 };
}
