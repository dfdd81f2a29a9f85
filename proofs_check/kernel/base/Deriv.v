(* Hand-written base: derivatives along a line, of numbers and of points of a space; growth; limits at 0; integrals. *)
Require Export Base.
From Coquelicot Require Import Coquelicot.
Require Import FunctionalExtensionality.

(** * Derivatives along a line through x *)
Section Along.
  Context {A : Type} (m : R -> A) (t0 : R) (x : A) (Hm : m t0 = x).
  Definition along (f : A -> R) (l : R) : Prop := is_derive (fun t => f (m t)) t0 l.
  Lemma al_const c : along (fun _ => c) 0.
  Proof. apply (is_derive_const (V := R_NormedModule) c). Qed.
  Lemma al_plus f g a b : along f a -> along g b -> along (fun y => f y + g y) (a + b).
  Proof. intros. unfold along in *. now apply (is_derive_plus (V := R_NormedModule)). Qed.
  Lemma al_minus f g a b : along f a -> along g b -> along (fun y => f y - g y) (a - b).
  Proof. intros. unfold along in *. now apply (is_derive_minus (V := R_NormedModule)). Qed.
  Lemma al_opp f a : along f a -> along (fun y => Ropp (f y)) (Ropp a).
  Proof. intros. unfold along in *. now apply (is_derive_opp (V := R_NormedModule)). Qed.
  Lemma al_mult f g a b : along f a -> along g b -> along (fun y => f y * g y) (a * g x + f x * b).
  Proof.
    intros F G. unfold along in *. apply is_derive_Reals. apply is_derive_Reals in F, G. rewrite <- Hm.
    exact (derivable_pt_lim_mult (fun t => f (m t)) (fun t => g (m t)) t0 a b F G).
  Qed.
  Lemma al_comp f h a b : along f a -> is_derive h (f x) b -> along (fun y => h (f y)) (a * b).
  Proof. intros F H. unfold along in *. rewrite <- Hm in H. exact (is_derive_comp h (fun t => f (m t)) t0 b a H F). Qed.
  Lemma al_inv f a : along f a -> f x <> 0 -> along (fun y => / f y) (Ropp a / f x ^ 2).
  Proof. intros F N. unfold along in *. rewrite <- Hm in *. exact (is_derive_inv (fun t => f (m t)) t0 a F N). Qed.
  Lemma al_div f g a b : along f a -> along g b -> g x <> 0 -> along (fun y => f y / g y) ((a * g x - f x * b) / g x ^ 2).
  Proof.
    intros F G N. pose proof (al_mult _ _ _ _ F (al_inv _ _ G N)) as H.
    replace ((a * g x - f x * b) / g x ^ 2) with (a * / g x + f x * (Ropp b / g x ^ 2)) by (field; assumption). exact H.
  Qed.
  Lemma al_pow n f a : along f a -> along (fun y => f y ^ n) (INR n * a * f x ^ pred n).
  Proof. intros F. unfold along in *. rewrite <- Hm. exact (is_derive_pow (fun t => f (m t)) n t0 a F). Qed.
  Lemma al_exp f a : along f a -> along (fun y => exp (f y)) (a * exp (f x)).
  Proof. intros. apply al_comp; [assumption|]. apply is_derive_exp. Qed.
  Lemma al_ln f a : along f a -> 0 < f x -> along (fun y => ln (f y)) (a * / f x).
  Proof. intros. apply al_comp; [assumption|]. now apply is_derive_ln. Qed.
  Lemma al_rpow f e a b : along f a -> along e b -> 0 < f x ->
    along (fun y => Rpower (f y) (e y)) ((b * ln (f x) + e x * (a * / f x)) * Rpower (f x) (e x)).
  Proof. intros F E P. unfold Rpower. apply (al_exp (fun y => e y * ln (f y))). apply al_mult; [assumption|]. now apply al_ln. Qed.
End Along.
Lemma al_id x : along (fun t => t) x (fun t => t) 1.
Proof. apply (is_derive_id (K := R_AbsRing)). Qed.
Lemma al_unknown f x : ex_derive f x -> along (fun t => t) x f (Derive f x).
Proof. apply Derive_correct. Qed.
Lemma Derive_is f x l : along (fun t => t) x f l -> Derive f x = l.
Proof. apply is_derive_unique. Qed.

(** * What never falls *)
Lemma rises (f : R -> R) (a b : R) : 0 <= b -> (forall x, a <= x -> ex_derive f x) -> (forall x, a <= x -> 0 <= Derive f x) -> f a <= f (a + b).
Proof.
  intros Hb D P. destruct Hb as [Hb|<-]; [|rewrite Rplus_0_r; lra].
  destruct (MVT_gen f a (a + b) (Derive f)) as (c & H & E).
  - intros x H. rewrite Rmin_left, Rmax_right in H by lra. apply Derive_correct, D. lra.
  - intros x H. rewrite Rmin_left, Rmax_right in H by lra. apply derivable_continuous_pt, ex_derive_Reals_0, D. lra.
  - rewrite Rmin_left, Rmax_right in H by lra. assert (0 <= Derive f c) by (apply P; lra). nra.
Qed.
(** What holds for every x > 0 holds at 0, in the limit. *)
Lemma at_zero (f : R -> R) (a : R) : ex_derive f 0 -> (forall x, 0 < x -> a <= f x) -> a <= f 0.
Proof.
  intros D H. destruct (Rle_lt_dec a (f 0)) as [|L]; [assumption|exfalso].
  pose proof (derivable_continuous_pt f 0 (ex_derive_Reals_0 f 0 D)) as C.
  destruct (C (a - f 0)) as (d & P & B); [lra|]. specialize (B (d / 2)). assert (Q : 0 < d / 2) by lra. specialize (H _ Q).
  assert (E : R_dist (f (d / 2)) (f 0) < a - f 0).
  { apply B. split; [split; [exact I | lra]|]. unfold dist; simpl. unfold R_dist. rewrite Rabs_pos_eq; lra. }
  apply Rabs_def2 in E. lra.
Qed.

(** * Points of a space, and integrals over it *)
Definition coordinate := nat.
Definition point := coordinate -> R.
Definition move (i : coordinate) (t : R) (x : point) : point := fun j => if Nat.eqb i j then x j + t else x j.
Lemma move_0 i x : move i 0 x = x.
Proof. apply functional_extensionality. intros j. unfold move. destruct (Nat.eqb i j); [apply Rplus_0_r | reflexivity]. Qed.
(** The derivative by a coordinate. *)
Definition partial (i : coordinate) (f : point -> R) (x : point) : R := Derive (fun t => f (move i t x)) 0.
Definition alongc (i : coordinate) (x : point) := @along point (fun t => move i t x) 0.
Lemma partial_is i f x l : alongc i x f l -> partial i f x = l.
Proof. apply is_derive_unique. Qed.
Definition partially (i : coordinate) (f : point -> R) (x : point) : Prop := ex_derive (fun t => f (move i t x)) 0.
Lemma al_partial i f x : partially i f x -> alongc i x f (partial i f x).
Proof. apply Derive_correct. Qed.

(** An integral is linear, and nothing else is known of it. *)
Record integral (D : Type) := { over :> (D -> R) -> R;
  over_plus : forall f g, over (fun x => f x + g x) = over f + over g;
  over_scale : forall c f, over (fun x => c * f x) = c * over f }.
Arguments over {D}. Arguments over_plus {D}. Arguments over_scale {D}.

Record integral2 := { over2 :> (coordinate -> point -> R) -> R;
  over2_plus : forall f g, over2 (fun i x => f i x + g i x) = over2 f + over2 g;
  over2_scale : forall c f, over2 (fun i x => c * f i x) = c * over2 f }.

(** * What is asked of unknown functions *)
Definition smooth_density (p : point -> R -> R) : Prop :=
  forall x s, 0 < s -> ex_derive (fun u => p x u) s /\ forall i, partially i (fun y => p y s) x.
Definition smooth_ratio (h : point -> R) : Prop := forall x i, partially i h x.
Definition smooth_divergence (r : R -> R -> R) : Prop := forall a s, 0 < a -> 0 < s -> differentiable_pt r a s.
Lemma al_2d r f g x a b : along (fun t => t) x f a -> along (fun t => t) x g b -> differentiable_pt r (f x) (g x) ->
  along (fun t => t) x (fun y => r (f y) (g y)) (Derive (fun u => r u (g x)) (f x) * a + Derive (fun u => r (f x) u) (g x) * b).
Proof.
  intros F G (l1 & l2 & D). destruct (differentiable_pt_lim_unique _ _ _ _ _ D) as [-> ->].
  apply is_derive_Reals. apply derivable_pt_lim_comp_2d; [exact D | now apply is_derive_Reals | now apply is_derive_Reals].
Qed.
Lemma ex_from f x l : along (fun t => t) x f l -> ex_derive f x.
Proof. intros H. exists l. exact H. Qed.
Lemma partially_from i f x l : alongc i x f l -> partially i f x.
Proof. intros H. exists l. exact H. Qed.
Notation Derive := Coquelicot.Derive.Derive.

(** * At given numbers *)
Lemma floor_is x z : IZR z <= x -> x < IZR z + 1 -> IZR z = Base.floor x.
Proof.
  intros A B. unfold Base.floor. f_equal. destruct (base_Int_part x) as [C D].
  assert (z < Int_part x + 1)%Z by (apply lt_IZR; rewrite plus_IZR; lra).
  assert (Int_part x < z + 1)%Z by (apply lt_IZR; rewrite plus_IZR; lra). lia.
Qed.
Ltac at_numbers := first [lra | whole | apply floor_is; lra | (unfold Rdiv; field) | field | nra].
