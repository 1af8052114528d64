// The key of a Secret with which backups are sealed: as every other key of a Secret is named.
import type { Part } from '../part.ts';
import { nested } from './nested.ts';

export const encryption = (at: readonly string[]): Part =>
  nested(at, { record: 'keySecret', fields: { secretName: 'name', key: 'key' } });
