// Ids of members and clusters: numbers of 64 bits, which JavaScript's own would round, and so
// decimal texts.

/** As etcdctl and etcd's logs write it. */
export const hexOf = (id: string): string => BigInt(id).toString(16);
