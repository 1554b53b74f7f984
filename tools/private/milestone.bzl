"""The repository's milestone as a build setting, and what has been reached of it."""

_MilestoneInfo = provider(doc = "The repository's milestone.", fields = {"value": "int, at least 0"})

def _milestone_flag(ctx):
    if ctx.build_setting_value < 0:
        fail("{} is {}; a milestone is 0 or more".format(ctx.label, ctx.build_setting_value))
    return [_MilestoneInfo(value = ctx.build_setting_value)]

milestone_flag = rule(
    implementation = _milestone_flag,
    doc = "The milestone that gates are held to; --//gates:milestone=N looks ahead.",
    build_setting = config.int(flag = True),
)

def _milestone_reached_impl(ctx):
    reached = ctx.attr.flag[_MilestoneInfo].value >= ctx.attr.milestone
    return [config_common.FeatureFlagInfo(value = "yes" if reached else "no")]

_milestone_reached = rule(
    implementation = _milestone_reached_impl,
    doc = "The value yes when the flag is at or past a milestone, else no.",
    attrs = {
        "flag": attr.label(mandatory = True, providers = [_MilestoneInfo]),
        "milestone": attr.int(mandatory = True),
    },
)

def milestone_settings(name, default, milestones):
    """Makes the flag NAME and a config_setting reached_N for each milestone.

    Args:
      name: the flag's name.
      default: int, the repository's checked-in milestone.
      milestones: list of ints, each milestone that some target is attached to.
    """
    milestone_flag(
        name = name,
        build_setting_default = default,
        visibility = ["//visibility:public"],
    )
    for milestone in milestones:
        _milestone_reached(
            name = "reached_{}_value".format(milestone),
            flag = name,
            milestone = milestone,
        )
        native.config_setting(
            name = "reached_{}".format(milestone),
            flag_values = {":reached_{}_value".format(milestone): "yes"},
            visibility = ["//visibility:public"],
        )

def pending_before(gates_package, milestone):
    """The one select that makes a target pending before its milestone.

    Args:
      gates_package: string, the package that holds the flag, such as "gates".
      milestone: int, the target's milestone.

    Returns:
      A value for target_compatible_with; Bazel prints the target as SKIPPED where it does not hold.
    """
    return select({
        "//{}:reached_{}".format(gates_package, milestone): [],
        "//conditions:default": [str(Label("@platforms//:incompatible"))],
    })
