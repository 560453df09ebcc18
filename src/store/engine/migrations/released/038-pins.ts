// Indexes of the names of the configuration that keys, users and scheduled tasks hold, so that those in use are read one by one.

export const pins = `
CREATE INDEX api_keys_by_model ON api_keys (model) WHERE model IS NOT NULL AND revoked_at IS NULL;
CREATE INDEX api_keys_by_target ON api_keys (target) WHERE target <> 'free' AND revoked_at IS NULL;
CREATE INDEX users_by_scenario ON users (scenario) WHERE scenario IS NOT NULL AND disabled = 0;
CREATE INDEX scheduled_tasks_by_target ON scheduled_tasks (target) WHERE target <> 'free' AND enabled = 1;
`;
