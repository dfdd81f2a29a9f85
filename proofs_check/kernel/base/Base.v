(* Hand-written base: whole numbers among the reals, geometric sums, powers, and the tactics of generated proofs. *)
Require Export Reals Lra Lia Psatz.
Require Import FunctionalExtensionality.
Open Scope R_scope.

(** * Whole numbers *)
Definition whole (x : R) : Prop := exists z : Z, x = IZR z.
Lemma whole_num z : whole (IZR z).
Proof. now exists z. Qed.
Lemma whole_plus x y : whole x -> whole y -> whole (x + y).
Proof. intros [a ->] [b ->]. exists (a + b)%Z. now rewrite plus_IZR. Qed.
Lemma whole_minus x y : whole x -> whole y -> whole (x - y).
Proof. intros [a ->] [b ->]. exists (a - b)%Z. now rewrite minus_IZR. Qed.
Lemma whole_mult x y : whole x -> whole y -> whole (x * y).
Proof. intros [a ->] [b ->]. exists (a * b)%Z. now rewrite mult_IZR. Qed.
Lemma whole_opp x : whole x -> whole (- x).
Proof. intros [a ->]. exists (- a)%Z. now rewrite opp_IZR. Qed.
Lemma whole_pow x n : whole x -> whole (x ^ n).
Proof. intros H. induction n; simpl; [apply whole_num | now apply whole_mult]. Qed.
Definition floor (x : R) : R := IZR (Int_part x).
Lemma whole_floor x : whole (floor x).
Proof. now exists (Int_part x). Qed.
Lemma floor_at_most x : floor x <= x.
Proof. unfold floor. destruct (base_Int_part x). lra. Qed.
Lemma floor_at_least k x : whole k -> k <= x -> k <= floor x.
Proof.
  intros [z ->] H. unfold floor. destruct (base_Int_part x) as [_ B]. apply IZR_le.
  assert (IZR z < IZR (Int_part x + 1)) by (rewrite plus_IZR; lra). apply lt_IZR in H0. lia.
Qed.
Lemma next_whole a b : whole a -> whole b -> a < b -> a + 1 <= b.
Proof. intros [x ->] [y ->] H. apply lt_IZR in H. rewrite <- plus_IZR. apply IZR_le. lia. Qed.
Lemma whole_nat x : whole x -> 0 <= x -> exists n, x = INR n.
Proof. intros [z ->] H. apply le_IZR in H. exists (Z.to_nat z). now rewrite INR_IZR_INZ, Z2Nat.id. Qed.

Lemma whole_ind (P : R -> Prop) (s : R) : P s -> (forall i, whole i -> s <= i -> P i -> P (i + 1)) ->
  whole s -> forall i, whole i -> s <= i -> P i.
Proof.
  intros B S Hs i Hi H. destruct (whole_nat (i - s)) as [n E]; [now apply whole_minus | lra |].
  replace i with (s + INR n) by lra. clear i Hi H E. induction n as [|n IH].
  - simpl. now rewrite Rplus_0_r.
  - rewrite S_INR. replace (s + (INR n + 1)) with (s + INR n + 1) by ring. apply S; [|pose proof (pos_INR n); lra|assumption].
    apply whole_plus; [assumption|]. rewrite INR_IZR_INZ. apply whole_num.
Qed.

(** * Sums over natural numbers *)
Fixpoint geosum (x : R) (k : nat) : R := match k with O => 0 | S k => geosum x k + x ^ k end.
(** 1 + x + ... + x^(k-1), for a whole number k of terms; below 0 the closed form goes on. *)
Definition gsum (x k : R) : R :=
  if Rle_dec 0 k then geosum x (Z.to_nat (Int_part k)) else if Req_EM_T x 1 then k else (1 - Rpower x k) / (1 - x).

Lemma Int_part_IZR z : Int_part (IZR z) = z.
Proof.
  destruct (base_Int_part (IZR z)) as [A B]. apply le_IZR in A.
  assert (IZR z < IZR (Int_part (IZR z) + 1)) by (rewrite plus_IZR; lra). apply lt_IZR in H. lia.
Qed.
Lemma gsum_INR x n : gsum x (INR n) = geosum x n.
Proof.
  unfold gsum. destruct (Rle_dec 0 (INR n)); [|pose proof (pos_INR n); contradiction].
  now rewrite INR_IZR_INZ, Int_part_IZR, Nat2Z.id.
Qed.
Lemma geosum_closed x k : (1 - x) * geosum x k = 1 - x ^ k.
Proof. induction k; simpl; [ring | rewrite Rmult_plus_distr_l, IHk; ring]. Qed.
Lemma geosum_nn x k : 0 <= x -> 0 <= geosum x k.
Proof. intros; induction k; simpl; [lra|]. assert (0 <= x ^ k) by (apply pow_le; lra). lra. Qed.
Lemma geosum_S x k : geosum x (S k) = 1 + x * geosum x k.
Proof. induction k; simpl in *; [ring|]. rewrite IHk at 1. ring. Qed.
Lemma geosum_of_1 n : geosum 1 n = INR n.
Proof. induction n; [reflexivity|]. cbn [geosum]. rewrite IHn, pow1, S_INR. reflexivity. Qed.
Lemma gsum_nn x k : 0 <= x -> 0 <= k -> 0 <= gsum x k.
Proof. intros A B. unfold gsum. destruct (Rle_dec 0 k); [now apply geosum_nn | contradiction]. Qed.
Lemma gsum_pos x k : 0 <= x -> whole k -> 0 < k -> 0 < gsum x k.
Proof.
  intros Hx W H. destruct (whole_nat k W) as [[|n] ->]; [lra | simpl in H; lra |].
  rewrite gsum_INR, geosum_S. pose proof (geosum_nn x n Hx). nra.
Qed.
Lemma gsum_closed x k : 0 < x -> x <> 1 -> whole k -> gsum x k = (1 - Rpower x k) / (1 - x).
Proof.
  intros H1 H2 W. destruct (Rle_dec 0 k) as [H|H].
  - destruct (whole_nat k W H) as [n ->]. rewrite gsum_INR, Rpower_pow, <- geosum_closed by assumption. field. lra.
  - unfold gsum. destruct (Rle_dec 0 k); [contradiction|]. destruct (Req_EM_T x 1); [contradiction | reflexivity].
Qed.
Lemma gsum_0 x : gsum x 0 = 0.
Proof. change 0 with (INR 0) at 1. now rewrite gsum_INR. Qed.
Lemma gsum_1 x : gsum x 1 = 1.
Proof. change 1 with (INR 1) at 1. rewrite gsum_INR. simpl. ring. Qed.
Lemma gsum_of_1 k : whole k -> gsum 1 k = k.
Proof.
  intros W. destruct (Rle_dec 0 k) as [H|H].
  - destruct (whole_nat k W H) as [n ->]. now rewrite gsum_INR, geosum_of_1.
  - unfold gsum. destruct (Rle_dec 0 k); [contradiction|]. destruct (Req_EM_T 1 1); [reflexivity | lra].
Qed.
Lemma gsum_next x k : whole k -> 0 <= k -> gsum x (k + 1) = 1 + x * gsum x k.
Proof. intros W H. destruct (whole_nat k W H) as [n ->]. rewrite <- S_INR, !gsum_INR. apply geosum_S. Qed.
Lemma gsum_next_ x k : whole k -> 0 < x -> gsum x (k + 1) = 1 + x * gsum x k.
Proof.
  intros W H. assert (W1 : whole (k + 1)) by (apply whole_plus; [assumption | apply whole_num]).
  destruct (Req_EM_T x 1) as [->|N]; [rewrite !gsum_of_1 by assumption; ring|].
  rewrite !gsum_closed by assumption. rewrite Rpower_plus, Rpower_1 by assumption. field. lra.
Qed.

(** * Functions of the bounds *)
Definition expm1 (x : R) : R := exp x - 1.
Lemma expm1_pos x : 0 < x -> 0 < expm1 x.
Proof. intros. unfold expm1. pose proof (exp_increasing 0 x H). rewrite exp_0 in H0. lra. Qed.
Lemma expm1_nn x : 0 <= x -> 0 <= expm1 x.
Proof. intros [H|<-]; [left; now apply expm1_pos|]. unfold expm1. rewrite exp_0. lra. Qed.
Definition log_mix (w x y : R) : R := ln (w * exp x + (1 - w) * exp y).
Fixpoint sum_to (f : R -> R) (k : nat) : R := match k with O => 0 | S n => sum_to f n + f (INR (S n)) end.
(** The mean of f over 1, ..., k, and the logarithm of the mean of exponentials. *)
Definition mean_over (f : R -> R) (k : R) : R := sum_to f (Z.to_nat (Int_part k)) / k.
Definition log_mean_exp (f : R -> R) (k : R) : R := ln (mean_over (fun i => exp (f i)) k).

Lemma sum_to_le f g k : (forall i, whole i -> 1 <= i -> i <= INR k -> f i <= g i) -> sum_to f k <= sum_to g k.
Proof.
  induction k; intros H; cbn [sum_to]; [lra|]. apply Rplus_le_compat.
  - apply IHk. intros i W A B. apply H; try assumption. rewrite S_INR. lra.
  - apply H; [rewrite INR_IZR_INZ; apply whole_num | rewrite S_INR; pose proof (pos_INR k); lra | lra].
Qed.
Lemma sum_to_const c k : sum_to (fun _ => c) k = INR k * c.
Proof. induction k; cbn [sum_to]; [simpl; ring|]. rewrite IHk, S_INR. ring. Qed.
Lemma sum_to_pos f k : (0 < k)%nat -> (forall i, 0 < f i) -> 0 < sum_to f k.
Proof. intros H P. destruct k; [lia|]. clear H. induction k; cbn [sum_to] in *; [specialize (P (INR 1)); lra|]. specialize (P (INR (S (S k)))). lra. Qed.
Lemma mean_INR f n : mean_over f (INR n) = sum_to f n / INR n.
Proof. unfold mean_over. now rewrite INR_IZR_INZ, Int_part_IZR, Nat2Z.id. Qed.
Lemma mean_le f g k : whole k -> 1 <= k -> (forall i, whole i -> 1 <= i -> i <= k -> f i <= g i) -> mean_over f k <= mean_over g k.
Proof.
  intros W H L. destruct (whole_nat k W) as [n ->]; [lra|]. rewrite !mean_INR. apply Rmult_le_compat_r.
  - left. apply Rinv_0_lt_compat. lra.
  - now apply sum_to_le.
Qed.
Lemma mean_exp_pos f k : whole k -> 1 <= k -> 0 < mean_over (fun i => exp (f i)) k.
Proof.
  intros W H. destruct (whole_nat k W) as [n ->]; [lra|]. rewrite mean_INR. apply Rdiv_lt_0_compat; [|lra].
  apply sum_to_pos; [apply INR_lt; simpl; lra|]. intros. apply exp_pos.
Qed.
Lemma log_mean_le f g k : whole k -> 1 <= k -> (forall i, whole i -> 1 <= i -> i <= k -> f i <= g i) -> log_mean_exp f k <= log_mean_exp g k.
Proof.
  intros W H L. assert (M : mean_over (fun i => exp (f i)) k <= mean_over (fun i => exp (g i)) k).
  { apply mean_le; try assumption. intros i A B C. destruct (L i A B C) as [E|E]; [left; now apply exp_increasing | rewrite E; lra]. }
  unfold log_mean_exp. destruct M as [M|M]; [left; apply ln_increasing; [now apply mean_exp_pos | assumption] | rewrite M; lra].
Qed.
Lemma log_mean_const c k : whole k -> 1 <= k -> log_mean_exp (fun _ => c) k = c.
Proof.
  intros W H. destruct (whole_nat k W) as [n ->]; [lra|]. unfold log_mean_exp. rewrite mean_INR, sum_to_const.
  replace (INR n * exp c / INR n) with (exp c) by (field; lra). apply ln_exp.
Qed.
Lemma log_mean_at_most f c k : whole k -> 1 <= k -> (forall i, whole i -> 1 <= i -> i <= k -> f i <= c) -> log_mean_exp f k <= c.
Proof. intros W H L. rewrite <- (log_mean_const c k W H). now apply log_mean_le. Qed.
Lemma log_mean_eq f g k : whole k -> 1 <= k -> (forall i, whole i -> 1 <= i -> i <= k -> f i = g i) -> log_mean_exp f k = log_mean_exp g k.
Proof. intros W H L. apply Rle_antisym; apply log_mean_le; try assumption; intros; rewrite L by assumption; lra. Qed.
Lemma mean_eq f g k : whole k -> 1 <= k -> (forall i, whole i -> 1 <= i -> i <= k -> f i = g i) -> mean_over f k = mean_over g k.
Proof. intros W H L. apply Rle_antisym; apply mean_le; try assumption; intros; rewrite L by assumption; lra. Qed.
Lemma log_mean_1 f : log_mean_exp f 1 = f 1.
Proof.
  unfold log_mean_exp. change 1 with (INR 1) at 1. rewrite mean_INR. cbn [sum_to INR]. rewrite Rplus_0_l.
  replace (exp (f 1) / 1) with (exp (f 1)) by field. apply ln_exp.
Qed.
Lemma log_mean_next f k : whole k -> 0 <= k ->
  log_mean_exp f (k + 1) = ln ((k * exp (log_mean_exp f k) + exp (f (k + 1))) / (k + 1)).
Proof.
  intros W [H0|<-]; [|rewrite Rplus_0_l, log_mean_1; symmetry; replace ((0 * exp (log_mean_exp f 0) + exp (f 1)) / 1) with (exp (f 1)) by field; apply ln_exp].
  assert (H : 1 <= k) by (pose proof (next_whole 0 k (whole_num 0) W H0); lra). unfold log_mean_exp at 2. rewrite exp_ln by now apply mean_exp_pos. unfold log_mean_exp. f_equal.
  destruct (whole_nat k W) as [n ->]; [lra|]. rewrite <- S_INR, !mean_INR. cbn [sum_to].
  pose proof (S_INR n). field. split; lra.
Qed.

(** * Signs and powers *)
Lemma even_pow x n h : n = (2 * h)%nat -> 0 <= x ^ n.
Proof. intros ->. rewrite pow_mult. apply pow_le, pow2_ge_0. Qed.
Lemma div_nn a b : 0 <= a -> 0 < b -> 0 <= a / b.
Proof. intros. apply Rmult_le_pos; [assumption|]. left. now apply Rinv_0_lt_compat. Qed.
Lemma Rpower_pos x y : 0 < Rpower x y.
Proof. apply exp_pos. Qed.
Lemma ln_Rpower x y : ln (Rpower x y) = y * ln x.
Proof. unfold Rpower. apply ln_exp. Qed.
Lemma ln_pow_Z x n : 0 < x -> ln (x ^ n) = IZR (Z.of_nat n) * ln x.
Proof.
  intros H. rewrite <- INR_IZR_INZ. induction n; simpl pow; [rewrite ln_1; simpl; ring|].
  rewrite ln_mult, IHn, S_INR; [ring|assumption|now apply pow_lt].
Qed.
Lemma ln_div x y : 0 < x -> 0 < y -> ln (x / y) = ln x - ln y.
Proof. intros. unfold Rdiv. rewrite ln_mult, ln_Rinv; [ring|assumption|assumption|now apply Rinv_0_lt_compat]. Qed.
Lemma neg_pos x : 0 < x -> 0 <> x.
Proof. lra. Qed.
Lemma by_sum l r t : r - l = t -> 0 <= t -> l <= r.
Proof. lra. Qed.
Lemma by_sum_strictly l r t : r - l = t -> 0 < t -> l < r.
Proof. lra. Qed.
Lemma slack l r : l <= r -> 0 <= r - l.
Proof. lra. Qed.
Lemma slack_strictly l r : l < r -> 0 < r - l.
Proof. lra. Qed.
Lemma slack_0 r : 0 <= r -> 0 <= r.
Proof. auto. Qed.
Lemma Rmax_is a b : a <= b -> Rmax a b = b.
Proof. intros. now apply Rmax_right. Qed.

(** What is bounded by v is bounded by whatever is larger (or smaller). *)
Definition at_most (P : R -> Prop) (u : R) : Prop := exists v, P v /\ v <= u.
Definition at_least (P : R -> Prop) (u : R) : Prop := exists v, P v /\ u <= v.
Lemma at_most_weaken P u w : at_most P u -> u <= w -> at_most P w.
Proof. intros (v & A & B) C. exists v. split; [assumption|lra]. Qed.
Lemma at_least_weaken P u w : at_least P u -> w <= u -> at_least P w.
Proof. intros (v & A & B) C. exists v. split; [assumption|lra]. Qed.

(** * Tactics *)
Lemma whole_Rpower n k : whole n -> 0 < n -> whole k -> 0 <= k -> whole (Rpower n k).
Proof. intros A B C D. destruct (whole_nat k C D) as [m ->]. rewrite Rpower_pow by assumption. now apply whole_pow. Qed.
(** A count that belongs to a run. *)
Definition counted (u : R -> R -> nat) (n t : R) : R := INR (u n t).
Lemma counted_nn u n t : 0 <= counted u n t.
Proof. apply pos_INR. Qed.
Lemma whole_counted u n t : whole (counted u n t).
Proof. unfold counted. rewrite INR_IZR_INZ. apply whole_num. Qed.
Ltac whole :=
  match goal with
  | |- whole (counted _ _ _) => apply whole_counted
  | H : whole ?x |- whole ?x => exact H
  | |- whole (_ + _) => apply whole_plus; whole
  | |- whole (_ - _) => apply whole_minus; whole
  | |- whole (_ * _) => apply whole_mult; whole
  | |- whole (- _) => apply whole_opp; whole
  | |- whole (_ ^ _) => apply whole_pow; whole
  | |- whole (floor _) => apply whole_floor
  | |- whole (Rpower _ _) => apply whole_Rpower; [whole | lra | whole | lra]
  | |- whole (IZR _) => apply whole_num
  end.

(** The same term but for subterms that hypotheses say are equal. *)
Ltac cong := lazymatch goal with |- ?a = ?b => first [constr_eq a b; exact eq_refl | assumption | solve [progress f_equal; cong]] end.

(** Propositions and terms that differ only in the numbers in them. *)
Ltac parts := repeat match goal with |- @eq R _ _ => fail 1 | |- @eq nat _ _ => reflexivity | |- _ = _ => reflexivity || f_equal end.

(** 0 < t, for what is a product of positive numbers or a sum of such. *)
Ltac positively :=
  match goal with
  | H : 0 < ?x |- 0 < ?x => exact H
  | H : forall x s, 0 < ?f x s |- 0 < ?f _ _ => apply H
  | H : forall x, 0 < ?f x |- 0 < ?f _ => apply H
  | |- 0 < _ * _ => apply Rmult_lt_0_compat; positively
  | |- 0 < _ / _ => apply Rdiv_lt_0_compat; positively
  | |- 0 < / _ => apply Rinv_0_lt_compat; positively
  | |- 0 < _ ^ _ => apply pow_lt; positively
  | |- 0 < exp _ => apply exp_pos
  | |- 0 < Rpower _ _ => apply exp_pos
  | |- 0 < _ + _ => first [apply Rplus_lt_0_compat; positively | apply Rplus_lt_le_0_compat; [positively | notnegative] | apply Rplus_le_lt_0_compat; [notnegative | positively]]
  | |- 0 < IZR _ => lra
  | |- _ => lra
  end
with notnegative :=
  match goal with
  | H : 0 <= ?x |- 0 <= ?x => exact H
  | H : 0 < ?x |- 0 <= ?x => exact (Rlt_le _ _ H)
  | |- 0 <= _ * _ => apply Rmult_le_pos; notnegative
  | |- 0 <= _ / _ => apply div_nn; [notnegative | positively]
  | |- 0 <= ?x ^ 2 => apply pow2_ge_0
  | |- 0 <= _ ^ _ => apply pow_le; notnegative
  | |- 0 <= _ + _ => apply Rplus_le_le_0_compat; notnegative
  | |- 0 <= / _ => left; positively
  | |- 0 <= exp _ => left; apply exp_pos
  | |- _ => lra
  end.

(** One power is a product of others: compare logarithms. *)
Ltac logs := repeat first
  [ rewrite ln_Rpower | rewrite ln_exp | rewrite ln_1
  | rewrite ln_mult by positively | rewrite ln_div by positively | rewrite ln_Rinv by positively | rewrite ln_pow_Z by positively ];
  repeat match goal with H : ln ?a = ln ?b |- context [ln ?a] => rewrite H end;
  repeat first [rewrite ln_1 | rewrite ln_mult by positively | rewrite ln_div by positively | rewrite ln_Rinv by positively | rewrite ln_pow_Z by positively];
  cbn [Z.of_nat Pos.of_succ_nat Pos.succ].
Ltac power := apply ln_inv; [positively | positively | logs; first [ring | solve [field; repeat split; unzero] | (match goal with |- context [ln (?x - 1 + 1)] => replace (x - 1 + 1) with x by ring end; first [ring | field; repeat split; unzero])]]
with unzero := match goal with
  | H : ?x <> 0 |- ?x <> 0 => exact H
  | |- _ => first [lra | apply Rgt_not_eq; red; positively | apply Rmult_integral_contrapositive_currified; unzero | apply pow_nonzero; unzero]
  end.

(** The divisors that field asks about: seen, or factors of what is known not to be 0. *)
Ltac from_known := match goal with
  | K : ?e <> 0 |- ?d <> 0 => let Z := fresh in intro Z; apply K; field_simplify_eq; [solve [lra | nra] | divisor ..]
  end
with divisor := match goal with
  | |- _ /\ _ => split; divisor
  | H : ?x <> 0 |- ?x <> 0 => exact H
  | |- _ => first
    [ solve [lra] | solve [apply Rgt_not_eq; red; positively]
    | solve [apply pow_nonzero; divisor] | solve [apply Rmult_integral_contrapositive_currified; divisor]
    | solve [intro; nra] | solve [from_known] ]
  end.
Ltac same := first [reflexivity | solve [ring] | solve [field; divisor] | solve [unfold Rdiv; ring]].

(** 0 <= t or 0 < t, for sums of products of what hypotheses say is not negative. *)
Ltac product := match goal with
  | H : 0 < ?x |- 0 < ?x => exact H
  | H : 0 <= ?x |- 0 <= ?x => exact H
  | H : 0 < ?x |- 0 <= ?x => exact (Rlt_le _ _ H)
  | |- 0 < _ * _ => apply Rmult_lt_0_compat; product
  | |- 0 <= _ * _ => apply Rmult_le_pos; product
  | |- 0 <= _ + _ => apply Rplus_le_le_0_compat; product
  | |- 0 < _ + _ => first [apply Rplus_lt_0_compat; product | apply Rplus_lt_le_0_compat; product | apply Rplus_le_lt_0_compat; product]
  | |- 0 <= 0 => apply Rle_refl
  | |- 0 < 1 => apply Rlt_0_1
  | |- 0 <= 1 => apply Rle_0_1
  end.
(** * More for generated proofs *)
Lemma eq_le a b c : a = b -> b <= c -> a <= c.
Proof. now intros ->. Qed.
Lemma eq_lt a b c : a = b -> b < c -> a < c.
Proof. now intros ->. Qed.
Lemma le_eq a b c : a <= b -> b = c -> a <= c.
Proof. now intros H <-. Qed.
Lemma lt_eq a b c : a < b -> b = c -> a < c.
Proof. now intros H <-. Qed.
Lemma inv_not_one x : x <> 0 -> x <> 1 -> / x <> 1.
Proof. intros A B E. apply B. rewrite <- (Rinv_inv x), E. field. Qed.
Lemma next_whole_0 x : whole x -> 0 < x -> 1 <= x.
Proof. intros A B. pose proof (next_whole 0 x (whole_num 0) A B). lra. Qed.
(** Counts are at least 1 where they are positive. *)
Ltac counting :=
  repeat match goal with P : 0 < ?x, W : whole ?x |- _ => lazymatch goal with _ : 1 <= x |- _ => fail | _ => pose proof (next_whole_0 x W P) end end;
  first [lra | nra].
Ltac not_one := match goal with
  | H : ?x <> 1 |- ?x <> 1 => exact H
  | |- / _ <> 1 => apply inv_not_one; [unzero | not_one]
  | |- _ => first [lra | solve [intro; nra]]
  end.
Arguments eq_le {a b c} _ _.
Arguments eq_lt {a b c} _ _.
Arguments le_eq {a b c} _ _.
Arguments lt_eq {a b c} _ _.
Lemma mean_1 f : mean_over f 1 = f 1.
Proof. change 1 with (INR 1) at 1. rewrite mean_INR. cbn [sum_to INR]. field. Qed.
Lemma mean_next f k : whole k -> 0 <= k -> mean_over f (k + 1) = (k * mean_over f k + f (k + 1)) / (k + 1).
Proof.
  intros W [H0|<-]; [|rewrite Rplus_0_l, mean_1; field].
  assert (H : 1 <= k) by (pose proof (next_whole 0 k (whole_num 0) W H0); lra). destruct (whole_nat k W) as [n ->]; [lra|]. rewrite <- S_INR, !mean_INR. cbn [sum_to].
  pose proof (S_INR n). field. split; lra.
Qed.

(** Recursions: what a count of steps makes of a start. *)
Fixpoint expected_nat (f hit miss : R -> R) (rate : R) (n : nat) (x : R) : R :=
  match n with O => f x | S n => rate * expected_nat f hit miss rate n (hit x) + (1 - rate) * expected_nat f hit miss rate n (miss x) end.
Definition expected (f hit miss : R -> R) (rate k x : R) : R := expected_nat f hit miss rate (Z.to_nat (Int_part k)) x.
Fixpoint accumulated_nat (f : R -> R) (n : nat) : R := match n with O => 0 | S n => accumulated_nat f n + f (accumulated_nat f n) end.
Definition accumulated (f : R -> R) (k : R) : R := accumulated_nat f (Z.to_nat (Int_part k)).
Fixpoint compounded_nat (f : R -> R) (cost : R) (n : nat) : R :=
  match n with O => 0 | S n => f (INR n) * (compounded_nat f cost n + cost) end.
Definition compounded (f : R -> R) (cost k : R) : R := compounded_nat f cost (Z.to_nat (Int_part k)).
Lemma nat_of_INR n : Z.to_nat (Int_part (INR n)) = n.
Proof. now rewrite INR_IZR_INZ, Int_part_IZR, Nat2Z.id. Qed.
Lemma nat_of_0 : Z.to_nat (Int_part 0) = O.
Proof. exact (nat_of_INR 0). Qed.
Lemma nat_of_next k : whole k -> 0 <= k -> Z.to_nat (Int_part (k + 1)) = S (Z.to_nat (Int_part k)).
Proof. intros W H. destruct (whole_nat k W H) as [n ->]. now rewrite <- S_INR, !nat_of_INR. Qed.
Lemma expected_0 f h m r x : expected f h m r 0 x = f x.
Proof. unfold expected. now rewrite nat_of_0. Qed.
Lemma expected_next f h m r k x : whole k -> 0 <= k ->
  expected f h m r (k + 1) x = r * expected f h m r k (h x) + (1 - r) * expected f h m r k (m x).
Proof. intros. unfold expected. now rewrite nat_of_next. Qed.
Lemma accumulated_0 f : accumulated f 0 = 0.
Proof. unfold accumulated. now rewrite nat_of_0. Qed.
Lemma accumulated_next f k : whole k -> 0 <= k -> accumulated f (k + 1) = accumulated f k + f (accumulated f k).
Proof. intros. unfold accumulated. now rewrite nat_of_next. Qed.
Lemma compounded_0 f c : compounded f c 0 = 0.
Proof. unfold compounded. now rewrite nat_of_0. Qed.
Lemma compounded_next f c k : whole k -> 0 <= k -> compounded f c (k + 1) = f k * (compounded f c k + c).
Proof. intros W H. unfold compounded. rewrite nat_of_next by assumption. cbn [compounded_nat]. destruct (whole_nat k W H) as [n ->]. now rewrite nat_of_INR. Qed.

(** Shifts that undo hits at regular distances. *)
Definition pooled (g y : R) : R := ((1 + g * y) ^ 2 + Rmax 0 (1 - g) ^ 2 * y) / (1 + y).
Definition cyclic_shifts (q n hits k : R) : R :=
  let last := gsum (/ q ^ 2) k in
  pooled (Rpower q (n - 2) * (1 + Rpower q n) * last / ((1 + Rpower q (n * (hits - 1))) * gsum (q ^ 2) n))
         (q ^ 2 * gsum (q ^ 2) (n * (hits - 1)) / last) / last.
Lemma pooled_pos g y : 0 <= g -> 0 <= y -> 0 < pooled g y.
Proof.
  intros G Y. unfold pooled. apply Rdiv_lt_0_compat; [|lra]. apply Rplus_lt_le_0_compat; [|apply Rmult_le_pos; [apply pow2_ge_0|lra]].
  apply pow_lt. pose proof (Rmult_le_pos g y G Y). lra.
Qed.
Lemma cyclic_pos q n hits k : 0 < q -> whole n -> 0 < n -> whole hits -> 0 < hits -> whole k -> 0 < k -> 0 < cyclic_shifts q n hits k.
Proof.
  intros Q Wn Hn Wh Hh Wk Hk. unfold cyclic_shifts. cbv zeta.
  assert (A : 0 < gsum (/ q ^ 2) k) by (apply gsum_pos; [left; apply Rinv_0_lt_compat, pow_lt; lra|assumption|assumption]).
  assert (B : 0 < gsum (q ^ 2) n) by (apply gsum_pos; [apply pow2_ge_0|assumption|assumption]).
  assert (C : 0 <= gsum (q ^ 2) (n * (hits - 1))) by (apply gsum_nn; [apply pow2_ge_0 | apply Rmult_le_pos; [lra | pose proof (next_whole 0 hits (whole_num 0) Wh Hh); lra]]).
  pose proof (Rpower_pos q (n - 2)). pose proof (Rpower_pos q n). pose proof (Rpower_pos q (n * (hits - 1))).
  apply Rdiv_lt_0_compat; [|assumption]. apply pooled_pos.
  - apply div_nn; [repeat apply Rmult_le_pos; lra | apply Rmult_lt_0_compat; lra].
  - apply div_nn; [apply Rmult_le_pos; [apply pow2_ge_0|assumption] | assumption].
Qed.

(** Factorials and binomial coefficients of whole numbers. *)
Definition rfact (x : R) : R := INR (fact (Z.to_nat (Int_part x))).
Lemma rfact_pos x : 0 < rfact x.
Proof. apply lt_0_INR, lt_O_fact. Qed.
Lemma rfact_prev x : whole x -> 0 < x -> rfact x = x * rfact (x - 1).
Proof.
  intros W H. destruct (whole_nat (x - 1)) as [n E]; [apply whole_minus; [assumption|apply whole_num] | pose proof (next_whole_0 x W H); lra |].
  replace x with (INR (S n)) by (rewrite S_INR; lra). unfold rfact. rewrite nat_of_INR.
  replace (INR (S n) - 1) with (INR n) by (rewrite S_INR; ring). rewrite nat_of_INR. change (fact (S n)) with (S n * fact n)%nat. now rewrite mult_INR.
Qed.
(** n choose k, 0 for k > n. *)
Definition rbinom (n k : R) : R := if Rle_dec k n then rfact n / (rfact k * rfact (n - k)) else 0.
Lemma rbinom_prev n k : whole n -> whole k -> 0 < n -> 0 < k -> rbinom (n - 1) (k - 1) = k / n * rbinom n k.
Proof.
  intros Wn Wk Hn Hk. unfold rbinom. destruct (Rle_dec (k - 1) (n - 1)), (Rle_dec k n); try lra.
  - rewrite (rfact_prev n), (rfact_prev k) by assumption. replace (n - 1 - (k - 1)) with (n - k) by ring.
    pose proof (rfact_pos (k - 1)). pose proof (rfact_pos (n - k)). field. repeat split; lra.
Qed.

(** * Directions *)
Lemma exp_le a b : a <= b -> exp a <= exp b.
Proof. intros [H| ->]; [left; now apply exp_increasing | lra]. Qed.
Lemma div_le a b c : 0 < c -> a <= b -> a / c <= b / c.
Proof. intros C H. apply Rmult_le_compat_r; [left; now apply Rinv_0_lt_compat | assumption]. Qed.
Lemma Rpower_le a b e : 0 < a -> 0 <= e -> a <= b -> Rpower a e <= Rpower b e.
Proof.
  intros A E H. apply exp_le, Rmult_le_compat_l; [assumption|].
  destruct H as [H| ->]; [left; apply ln_increasing; lra | lra].
Qed.
Lemma geosum_le x n k : 0 <= x -> geosum x n <= geosum x (n + k).
Proof.
  intros X. induction k; [rewrite Nat.add_0_r; lra|]. rewrite Nat.add_succ_r. cbn [geosum].
  pose proof (pow_le x (n + k) X). lra.
Qed.
Lemma gsum_le x a b : 0 <= x -> whole a -> whole b -> 0 <= a -> a <= b -> gsum x a <= gsum x b.
Proof.
  intros X Wa Wb A H. destruct (whole_nat a Wa A) as [n ->]. destruct (whole_nat b Wb) as [k ->]; [lra|].
  rewrite !gsum_INR. apply INR_le in H. replace k with (n + (k - n))%nat by lia. now apply geosum_le.
Qed.
