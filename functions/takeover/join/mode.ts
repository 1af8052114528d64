// Whether members are to join the old ones, or a snapshot is restored. Pure.
import type { Seen } from '../state.ts';

export const joins = ({ takeover }: Pick<Seen, 'takeover'>): boolean =>
  takeover.spec.mode === 'Join';
