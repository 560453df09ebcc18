// Lists of deliveries by type, and by state over all owners: each page is read from an index, in its order.

export const listsOfDeliveries = `
CREATE INDEX webhook_deliveries_by_owner_type ON webhook_deliveries (owner, event_type, created_at);
CREATE INDEX webhook_deliveries_by_type ON webhook_deliveries (event_type, created_at);
CREATE INDEX webhook_deliveries_by_state ON webhook_deliveries (state, created_at);
`;
