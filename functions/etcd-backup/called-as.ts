// The ways in which people call the program, for its usages.
export type CalledAs = readonly [string, ...string[]];

export const CALLED_AS: CalledAs = ['npm run backup --', 'node etcd-backup.mjs'];
