// The users of an EtcdCluster's etcd and their rights, as wanted, and what was made of that.
// knative/crds/etcd-cluster.yaml is the source of truth.

/** Without users only `root` logs in, whose password is in Secret `<name>-root`. */
export interface EtcdAuth {
  readonly users?: readonly EtcdUser[];
  readonly roles?: readonly EtcdRole[];
}

export interface EtcdUser {
  readonly name: string;
  /** Certificate: by a client certificate with this common name, and with no password. */
  readonly login: 'Password' | 'Certificate';
  /** Without one a password is made, in Secret `<name>-user-<user>`. */
  readonly passwordSecret?: { readonly name: string; readonly key: string };
  readonly roles: readonly string[];
}

export interface EtcdRole {
  readonly name: string;
  readonly permissions: readonly EtcdPermission[];
}

export interface EtcdPermission {
  /** Every key begins with an empty one. */
  readonly prefix: string;
  readonly access: 'Read' | 'Write' | 'ReadWrite';
}

/** Written before etcd is told: what is not in it was made by somebody else, and is not deleted. */
export interface EtcdAuthStatus {
  /** On: etcd asks for logins, or is about to. Ending: it is told to ask no more. */
  readonly phase: 'Preparing' | 'On' | 'Ending';
  readonly rootSecret: string;
  /** Absent when there are none: the API server keeps no empty list of its own. */
  readonly users?: readonly MadeUser[];
  readonly roles?: readonly string[];
}

export interface MadeUser {
  readonly name: string;
  readonly login: EtcdUser['login'];
  /** The Secret with its password. */
  readonly secret?: string;
  /**
   * Tells whether it is as the spec and its Secret say: keyed by root's password, so nobody else
   * can try passwords on it. Absent as long as it may be somebody else's of this name.
   */
  readonly madeAs?: string;
}
