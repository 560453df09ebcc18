// What administrators ask of the installation itself: its state, its settings, and what is wrong with it.
import { definedNames, lostPins } from './capabilities/pin.ts';
import { examination, examinationRequest } from './doctor.ts';
import { endpoints } from './endpoint.ts';
import { configuration, database, status } from './status.ts';

/** Longer than the daemon's limit of a full examination. */
const EXAMINATION_MS = 4_000_000;

// biome-ignore format: a table reads best with one endpoint a line
export const installation = endpoints('admin', 'envelope', {
  status: { route: 'GET /api/v1/status', summary: 'How the daemon is doing', operation: 'getStatus', reply: status },
  examine: { route: 'POST /api/v1/doctor', summary: 'Examine the whole installation', operation: 'examine', body: examinationRequest, bodyIsOptional: true, reply: examination, endsWithClient: true, patienceMs: EXAMINATION_MS },
  configuration: { route: 'GET /api/v1/configuration', summary: 'The settings, and what is wrong with the configuration files', operation: 'getConfiguration', reply: configuration },
  lostPins: { route: 'POST /api/v1/configuration/pins', summary: 'Find who is pinned to what is not among the names of a configuration', operation: 'findLostPins', body: definedNames, reply: lostPins },
  database: { route: 'GET /api/v1/database', summary: 'Figures of the database: its schema, its size, rows of its tables', operation: 'getDatabase', reply: database },
});
