//! Controls: each store with a fault must fail the promise it breaks, or the suite proves nothing.

use super::SqliteHarness;
use super::conformance::faulty::{Fault, FaultyHarness};
use super::conformance::{
    accounts, api_keys, bell, families, feed, history, keeping, keys, leases, moving, notices, refusals, sessions,
    tenants,
};

macro_rules! caught {
    ($($test:ident: $fault:ident by $group:ident $promise:ident;)+) => {
        $(
            #[tokio::test(flavor = "multi_thread")]
            async fn $test() {
                let verdict = tokio::spawn(async {
                    let (sound, elsewhere) = (SqliteHarness::new(), SqliteHarness::new());
                    let harness = FaultyHarness { sound: &sound, elsewhere: &elsewhere, fault: Fault::$fault };
                    $group::$promise(&harness).await;
                });
                let caught = verdict.await.is_err_and(|end| end.is_panic());
                assert!(caught, "{} did not notice {:?}", stringify!($promise), Fault::$fault);
            }
        )+
    };
}

caught! {
    lost_writes_are_caught: AcknowledgesWithoutWriting by moving acknowledged_order_is_stored_order;
    lost_concurrent_writes_are_caught: AcknowledgesWithoutWriting by moving concurrent_changes_of_one_task_are_all_kept;
    ignored_versions_are_caught: IgnoresTheVersion by moving compare_and_set_lets_one_win;
    written_refusals_are_caught: IgnoresTheVersion by refusals a_refused_change_writes_nothing;
    ignored_leases_are_caught: IgnoresTheLease by leases an_old_lease_is_fenced_off;
    ignored_epochs_are_caught: IgnoresTheEpoch by leases one_of_many_claimers_wins;
    ignored_caps_are_caught: IgnoresTheCap by sessions the_session_cap_holds_under_concurrency;
    ignored_lines_are_caught: IgnoresTheLine by sessions a_free_slot_is_the_first_in_lines;
    shared_directories_are_caught: SharesDirectories by families one_task_at_a_time_works_in_a_directory;
    ignored_families_are_caught: IgnoresFamilies by families the_limits_of_a_family_hold_under_concurrency;
    hidden_events_are_caught: HidesAnEvent by history events_are_gap_free_and_in_order;
    careless_removals_are_caught: RemovesAnything by keeping what_may_be_needed_is_not_removed;
    lost_removals_are_caught: KeepsWhatIsRemoved by keeping a_finished_task_is_removed_whole;
    replaced_backups_are_caught: OverwritesBackups by keeping a_backup_is_whole_and_replaces_nothing;
    forgotten_tasks_are_caught: ForgetsATask by keeping outlines_are_filtered_by_end_and_age;
    lost_notices_are_caught: LosesNotices by notices a_notice_is_made_with_the_change_it_tells_of;
    notices_for_everybody_are_caught: GivesNoticesToEverybody by notices one_of_many_claimers_of_a_notice_wins;
    careless_giving_back_is_caught: SettlesForAnybody by notices a_notice_that_is_given_back_counts_no_try;
    careless_settling_is_caught: SettlesForAnybody by notices a_notice_is_settled_by_its_claimer_alone;
    forgotten_limits_are_caught: ForgetsLimits by accounts a_limit_is_shared_with_the_change_that_reports_it;
    forgotten_revocations_are_caught: ForgetsRevocations by api_keys an_api_key_is_revoked_for_good;
    forgotten_keys_are_caught: ForgetsKeys by keys a_key_names_one_request;
    ignored_inputs_are_caught: IgnoresTheInput by keys a_key_is_bound_to_its_caller_operation_and_input;
    guesses_that_are_kept_are_caught: NeverDropsAGuess by keys a_guessed_key_names_a_task_while_it_is_at_work;
    tenants_shown_each_others_tasks_are_caught: IgnoresTenants by tenants another_tenants_task_is_answered_like_an_unknown_one;
    tenants_shown_each_others_lists_are_caught: IgnoresTenants by tenants lists_show_one_tenant;
    tenants_with_shared_names_are_caught: IgnoresTenants by tenants names_and_keys_are_each_tenants_own;
    tenants_with_a_shared_feed_are_caught: IgnoresTenants by feed a_tenants_feed_has_its_own_events;
    hidden_gaps_are_caught: HidesTheGap by feed a_reader_is_told_that_events_are_missing;
    skipped_events_are_caught: SkipsInTheFeed by feed pages_of_the_feed_are_bounded_and_follow_each_other;
    silent_bells_are_caught: IsSilent by bell the_bell_rings_for_another_handles_commits;
}
