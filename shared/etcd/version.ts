// Versions of etcd, as images and members tell them. Pure.

export interface Version {
  readonly major: number;
  readonly minor: number;
  readonly patch: number;
}

/** The version in the tag of an image, or in what a member says. */
export function versionIn(text: string): Version | undefined {
  const [, major, minor, patch] = /(?:^|:v?)(\d+)\.(\d+)\.(\d+)[^/]*$/.exec(text) ?? [];
  if (major === undefined || minor === undefined || patch === undefined) return undefined;
  return { major: Number(major), minor: Number(minor), patch: Number(patch) };
}

/** As etcd itself tells it: `3.6.16`, and `0.0.0` for an image that names none. */
export function versionOfImage(image: string): string {
  const { major, minor, patch } = versionIn(image) ?? { major: 0, minor: 0, patch: 0 };
  return `${major}.${minor}.${patch}`;
}

/** The three numbers alone; undefined for what is no version. */
export const versionText = (text: string | undefined): string | undefined =>
  /^\d{1,4}\.\d{1,4}\.\d{1,4}(?![\d.])/.exec(text ?? '')?.[0];

export const isSameMinor = (a: Version, b: Version): boolean =>
  a.major === b.major && a.minor === b.minor;

/** The member has to become another minor version, if that may be. */
export function isOtherMinor(running: string, image: string): boolean {
  const [from, to] = [versionIn(running), versionIn(image)];
  return from !== undefined && to !== undefined && !isSameMinor(from, to);
}

/** `3.6.16`, or `3.6.16 to 3.7.3` while members differ. */
export function shownVersion(versions: readonly string[]): string | undefined {
  const distinct = [...new Set(versions)].toSorted(byAge);
  const [oldest] = distinct;
  const newest = distinct.at(-1);
  return oldest === newest ? oldest : `${oldest ?? ''} to ${newest ?? ''}`;
}

export const byAge = (a: string, b: string): number => compare(versionIn(a), versionIn(b));

const numberOf = ({ major, minor, patch }: Version): number =>
  (major * 10_000 + minor) * 10_000 + patch;

export const compare = (a: Version | undefined, b: Version | undefined): number =>
  (a === undefined ? 0 : numberOf(a)) - (b === undefined ? 0 : numberOf(b));
