// Versions of etcd as numbers that can be compared. Pure.

/** By major and minor alone. */
export function versionOf(text: string): number {
  const [major = 0, minor = 0] = text.split('.').map(Number);
  return major * 1_000 + minor;
}
