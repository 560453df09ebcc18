// Which attempts say something of a webhook.

export const epochsOfWebhooks = `
-- Grows when it is enabled or its address changes: attempts of an earlier epoch say nothing of it.
ALTER TABLE webhooks ADD COLUMN epoch INTEGER NOT NULL DEFAULT 1;
`;
