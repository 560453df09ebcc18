// Settings of what other systems observe of the daemon: metrics, traces; and of the log.
import { choice, text } from '../../catalog/reading/schema.ts';
import { parseListen } from '../listen-address.ts';
import type { Options } from '../option.ts';

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
  },
  'log.level': {
    schema: choice(LEVELS),
    fallback: 'info',
    about: 'Least severe level that is logged: trace, debug, info, warn, error or fatal.',
  },
} satisfies Options;
