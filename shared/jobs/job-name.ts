// The name of the one Job that an object has in its life. Pure.

/** Names have 63 characters at most, and a uid has 36. */
const NAME_LENGTH_MAX = 26;

/** The same for one object always, and for no other one: there is one Job in its life. */
export const jobNameOf = ({ name, uid }: { readonly name: string; readonly uid: string }): string =>
  `${name.slice(0, NAME_LENGTH_MAX)}-${uid}`;
