// The versions of our kinds, as objects name them.
export const GROUP = 'ballast.dev';

/** The one in which the functions are written, and the one after it. */
export const WRITTEN = 'v1alpha1';
export const LATER = 'v1beta1';

export const VERSIONS = [WRITTEN, LATER] as const;
export type Version = (typeof VERSIONS)[number];

/** Undefined for a version that is not ours. */
export const versionIn = (apiVersion: unknown): Version | undefined =>
  VERSIONS.find((version) => apiVersion === apiVersionOf(version));

export const apiVersionOf = (version: Version): string => `${GROUP}/${version}`;
