// Whether the data are given up, and whether a person has written that. Pure.
import type { Seen } from '../state.ts';

export const wipes = ({ takeover }: Pick<Seen, 'takeover'>): boolean =>
  takeover.spec.mode === 'Wipe';

/** By the name of what is given up, so that nobody copies it from elsewhere. */
export const isSaid = ({ takeover: { spec } }: Pick<Seen, 'takeover'>): boolean =>
  spec.wipe === spec.legacy.name;
