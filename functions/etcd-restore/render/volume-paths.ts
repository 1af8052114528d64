// Where the containers of a restore have their volumes. Pure.

/** As in the pods of members. */
export const DATA_MOUNT = '/var/lib/etcd';
export const SOURCE_MOUNT = '/source';
export const ROOT_MOUNT = '/etc/ballast/root';

export const PASSWORD_FILE = 'password';
