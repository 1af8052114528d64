// Where the image has the program of this folder.
export const PROGRAM = '/app/etcd-backup.mjs';
