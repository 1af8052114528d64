// The steps of our own kinds, as docs/upgrading.md numbers them from 0.

/** The definitions of the installation, and after them the overlays of the timeline. */
export const STEPS = [
  'crds',
  '1-served',
  '2-stored',
  '3-deprecated',
  '4-unserved',
  '5-removed',
] as const;
export type Step = (typeof STEPS)[number];
/** The only one with one version and without conversion. */
export const FIRST: Step = STEPS[0];
/** As people write it. */
export const LAST_NUMBER = STEPS.length - 1;
