// The versions of our kinds, as objects name them.
export const GROUP = 'ballast.dev';

export const VERSIONS = ['v1alpha1', 'v1beta1'] as const;
export type Version = (typeof VERSIONS)[number];

/** Undefined for a version that is not ours. */
export const versionIn = (apiVersion: unknown): Version | undefined =>
  VERSIONS.find((version) => apiVersion === apiVersionOf(version));

export const apiVersionOf = (version: Version): string => `${GROUP}/${version}`;
