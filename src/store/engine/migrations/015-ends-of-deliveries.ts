// When deliveries ended, so that only what has ended is pruned.

export const endsOfDeliveries = `
-- NULL while it is pending.
ALTER TABLE webhook_deliveries ADD COLUMN ended_at INTEGER;
UPDATE webhook_deliveries SET ended_at = coalesce(delivered_at, created_at) WHERE state <> 'pending';
CREATE INDEX webhook_deliveries_ended ON webhook_deliveries (ended_at) WHERE ended_at IS NOT NULL;
CREATE INDEX webhook_deliveries_due ON webhook_deliveries (next_attempt_at) WHERE state = 'pending';
`;
