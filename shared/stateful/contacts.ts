// When servers answered last, as far as this instance knows, in milliseconds, by their names. Pure.
export type Contacts = ReadonlyMap<string, number>;
