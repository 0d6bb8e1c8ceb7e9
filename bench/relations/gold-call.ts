/** A call and the definition that it means; `to` is `dispatch` for an abstract method and `-` for what is not in the checkout. */
export interface GoldCall {
  path: string;
  line: number;
  name: string;
  to: string;
  at: number;
}
