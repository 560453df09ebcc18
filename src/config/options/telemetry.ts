// Settings of what other systems observe of the daemon: metrics, traces; and of the log.
import { choice, text } from '../../catalog/reading/schema.ts';
import { isPublicUrl, parseListen } from '../listen-address.ts';
import type { Options } from '../option.ts';

const isBaseAddress = (value: string) => value === '' || isPublicUrl(value);
const LEVELS = ['trace', 'debug', 'info', 'warn', 'error', 'fatal'] as const;

export const TELEMETRY_OPTIONS = {
  'metrics.listen': {
    schema: text(
      'HOST:PORT, such as 127.0.0.1:9484, or unix:/path, or empty',
      (value) => value === '' || parseListen(value) !== null,
    ),
    fallback: '',
    about:
      'Address of the metrics for Prometheus, as HOST:PORT or unix:/path. Read only at start. Whoever reaches it can read ' +
      'them at GET /metrics, without a credential. Empty: nothing is measured.',
    isOfNode: true,
  },
  'traces.otlp_endpoint': {
    schema: text('an http or https address without user, query or fragment, or empty', isBaseAddress),
    fallback: '',
    about:
      'Base address of a collector that takes OTLP over HTTP as JSON, such as http://127.0.0.1:4318; `/v1/traces` is ' +
      'appended. Empty: no traces.',
    isOfNode: true,
  },
  'traces.headers_file': {
    schema: text('a path, credential:NAME, or empty', (value) => value.length <= 4_096),
    fallback: '',
    about:
      'File with headers for the collector, a line for each, such as `authorization: Bearer …`: a path, relative to the ' +
      'config directory, or credential:NAME. It is read for each request.',
    isOfNode: true,
  },
  'traces.sample': {
    schema: { type: 'number', minimum: 0, maximum: 1, mustBe: 'must be a number from 0 to 1' },
    fallback: 1,
    about:
      'Share of the runs that are traced, from 0 to 1. Runs whose request brings a `traceparent` follow its decision instead.',
  },
  'log.level': {
    schema: choice(LEVELS),
    fallback: 'info',
    about: 'Least severe level that is logged: trace, debug, info, warn, error or fatal.',
    isOfNode: true,
  },
} satisfies Options;
