// A name that a user may have (B1).
import { USERNAME } from '../../domain/people/names.ts';
import { matching } from '../shapes/scalars.ts';

export const username = matching(USERNAME, 'must be 1 to 64 letters, digits, dots, dashes, underscores or @');
