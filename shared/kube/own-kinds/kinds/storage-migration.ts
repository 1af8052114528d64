// StorageMigration: it is paused as other kinds are, and Complete at its end.
import type { Part } from '../part.ts';
import { renamed, renamedValue } from '../parts/renamed.ts';

export const STORAGE_MIGRATION: readonly Part[] = [
  renamed(['spec'], 'pause', 'paused'),
  renamedValue(['status'], 'phase', 'Done', 'Complete'),
];
