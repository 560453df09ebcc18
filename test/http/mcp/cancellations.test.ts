import { expect, test, vi } from 'vitest';
import { makeCancellations } from '../../../src/http/mcp/cancellations.ts';

const cancelling = (requestId: string | number) => ({ method: 'notifications/cancelled', params: { requestId } });

test('a request is cancelled by its own client alone, and under its own id', () => {
  const { listen, take } = makeCancellations();
  const cancel = vi.fn();
  listen('7 a', 1, cancel);
  for (const [client, message] of [
    ['7 b', cancelling(1)],
    ['8 a', cancelling(1)],
    [null, cancelling(1)],
    ['7 a', cancelling('1')],
    ['7 a', cancelling(2)],
    ['7 a', { method: 'notifications/progress', params: { requestId: 1 } }],
    ['7 a', { method: 'notifications/cancelled' }],
    ['7 a', { method: 'notifications/cancelled', params: null }],
  ] as const)
    take(client, message);
  expect(cancel).not.toHaveBeenCalled();
  take('7 a', cancelling(1));
  expect(cancel).toHaveBeenCalledOnce();
});

test('one that is over is cancelled no more', () => {
  const { listen, take } = makeCancellations();
  const cancel = vi.fn();
  listen('7 a', 1, cancel)();
  take('7 a', cancelling(1));
  expect(cancel).not.toHaveBeenCalled();
});

test('a client that nothing tells from others cancels nothing', () => {
  const { listen, take } = makeCancellations();
  const cancel = vi.fn();
  listen(null, 1, cancel);
  take(null, cancelling(1));
  expect(cancel).not.toHaveBeenCalled();
});
